import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { ExitStatus } from '../../src/native/launch.js';
import { loadLibc } from '../../src/native/libc.js';
import { reaper } from '../../src/native/reaper.js';
import { type SpawnRequest, spawnProcess } from '../../src/native/spawn.js';
import { readState, until } from './launch-helper.js';

const libc = loadLibc();

function requestOf(script: string): SpawnRequest {
  return {
    program: '/bin/sh',
    argv: ['sh', '-c', script],
    cwd: Buffer.from('/'),
    env: new Map(),
    stdio: [{ kind: 'open', path: '/dev/null', flags: 0, as: 0 }],
    extraDescriptors: [],
  };
}

function watch(script: string): { pid: number; exit: Promise<ExitStatus> } {
  let pid = 0;
  const exit = new Promise<ExitStatus>((resolve) => {
    pid = reaper.spawn(libc, () => spawnProcess(libc, requestOf(script)), {
      onExit: resolve,
      keepsAlive: true,
    });
  });
  return { pid, exit };
}

describe('reaper', () => {
  it('listens only while there are children', async () => {
    expect(process.listenerCount('SIGCHLD')).toBe(0);
    const child = watch('exit 3');
    expect(process.listenerCount('SIGCHLD')).toBe(1);
    expect(await child.exit).toEqual({ kind: 'exited', code: 3 });
    expect(process.listenerCount('SIGCHLD')).toBe(0);
  });

  it('stops listening when the start fails', () => {
    const fail = () => {
      throw new Error('no');
    };
    expect(() => reaper.spawn(libc, fail, { onExit: () => {}, keepsAlive: true })).toThrow('no');
    expect(process.listenerCount('SIGCHLD')).toBe(0);
  });

  it('takes many children by few signals', async () => {
    const children = Array.from({ length: 100 }, (_, code) => watch(`exit ${code}`));
    // The loop does not turn here, and signals of one kind do not queue.
    while (children.some(({ pid }) => readState(pid) !== 'Z')) process.hrtime();
    const statuses = await Promise.all(children.map(({ exit }) => exit));
    expect(statuses).toEqual(children.map((_, code) => ({ kind: 'exited', code })));
  });

  it("reaps behind a zombie that is somebody else's, and leaves that alone", async () => {
    const foreign = spawnProcess(libc, requestOf('exit 9'));
    await until(() => readState(foreign) === 'Z');
    expect(await watch('exit 4').exit).toEqual({ kind: 'exited', code: 4 });
    const status = new Int32Array(1);
    expect(libc.waitpid(foreign, status, 0)).toBe(foreign);
    expect(status[0]).toBe(9 << 8);
  });

  it('says so when somebody else took the status', async () => {
    const child = watch('exit 5');
    libc.waitpid(child.pid, new Int32Array(1), 0);
    // Any child of Node makes the reaper look; a zombie of nobody makes it look at each of its own.
    const foreign = spawnProcess(libc, requestOf(':'));
    await until(() => readState(foreign) === 'Z');
    spawn('/bin/true');
    expect(await child.exit).toMatchObject({ kind: 'unknown' });
    libc.waitpid(foreign, new Int32Array(1), 0);
  });
});
