import { closeSync, openSync, readSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DescriptorScope, F_SETFD } from '../../src/native/descriptors.js';
import { type Libc, loadLibc } from '../../src/native/libc.js';
import { openOutputPipe } from '../../src/native/pipes.js';
import { spawnProcess } from '../../src/native/spawn.js';
import { until } from './launch-helper.js';

describe('spawnProcess', () => {
  it.each([
    ['with closefrom', (libc: Libc) => libc],
    ['without closefrom', (libc: Libc) => ({ ...libc, addClosefrom: null })],
  ])('closes what this process holds without close-on-exec, %s', async (_, adapt) => {
    const libc = adapt(loadLibc());
    const scope = new DescriptorScope(libc);
    const stray = openSync('/dev/zero', 'r');
    const wanted = openSync('/dev/null', 'r');
    const output = openOutputPipe(libc, scope);
    libc.fcntl(stray, F_SETFD, 0);
    const pid = spawnProcess(libc, {
      program: '/bin/ls',
      argv: ['ls', '/proc/self/fd'],
      cwd: Buffer.from('/'),
      env: new Map(),
      stdio: [
        { kind: 'open', path: '/dev/null', flags: 0, as: 0 },
        { kind: 'duplicate', fd: output.theirs, as: 1 },
        { kind: 'duplicate', fd: 1, as: 2 },
      ],
      extraDescriptors: [{ fd: wanted, as: 5 }],
    });
    const status = new Int32Array(1);
    await until(() => libc.waitpid(pid, status, 1) === pid);
    const buffer = Buffer.alloc(1_000);
    const listed = buffer.toString('latin1', 0, readSync(output.ours, buffer));
    // 3 is the listing itself.
    expect(listed.trim().split('\n')).toEqual(['0', '1', '2', '3', '5']);
    scope.closeAll();
    for (const fd of [stray, wanted]) closeSync(fd);
  });
});
