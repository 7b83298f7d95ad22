import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, it } from 'vitest';
import { thisArchitecture } from '../../../src/sandbox/bubblewrap/architecture.js';
import { buildEntryProgram, type EntryRequest } from '../../../src/sandbox/bubblewrap/entry-program.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

beforeEach((test) => {
  if (process.platform !== 'linux' || thisArchitecture() === undefined)
    test.skip('needs Linux on x64 or arm64');
});

const SHELL: EntryRequest = {
  program: '/bin/sh',
  argv: ['sh'],
  env: new Map(),
  cwd: Buffer.from('/'),
  takesTerminal: false,
  statusFd: 4,
  ownDescriptorsFrom: 4,
};

/** Runs an entry program with descriptor 3 for the program and 4 for its status. */
async function enter(request: Partial<EntryRequest>) {
  const path = join(await makeTempDirectory(), 'enter');
  await writeFile(path, buildEntryProgram(thisArchitecture()!, { ...SHELL, ...request }), { mode: 0o755 });
  const child = spawn(path, [], {
    env: { NOT: 'passed on' },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const [output, status] = await Promise.all([buffer(child.stdout!), buffer(child.stdio[4] as Readable)]);
  const [exitCode] = (await closed) as [number];
  return { output: output.toString(), status: [...status], exitCode };
}

it('becomes the program: its arguments, environment, directory, session and descriptors', async () => {
  const script = 'echo "$0|$*|$(pwd)"; env; ls /proc/self/fd; cut -d" " -f1,6 /proc/$$/stat';
  const { output, status, exitCode } = await enter({
    argv: ['name', '-c', script, 'zero', 'a b', '', 'ü'],
    env: new Map([
      ['PATH', '/usr/bin:/bin'],
      ['EMPTY', ''],
    ]),
    cwd: Buffer.from('/usr'),
  });
  const [words, ...lines] = output.trim().split('\n');
  expect(words).toBe('zero|a b  ü|/usr');
  expect(lines).toContain('EMPTY=');
  expect(output).not.toContain('NOT');
  // 0, 1, 2, the program's 3, and that of the listing.
  expect(lines.filter((line) => /^\d$/.test(line))).toEqual(['0', '1', '2', '3', '4']);
  const [pid, session] = lines.at(-1)!.split(' ');
  expect(session).toBe(pid);
  expect([status, exitCode]).toEqual([[0], 0]);
});

it.each([
  ['a program that is not there', { program: '/no/such' }, 2],
  ['a program that cannot be executed', { program: '/etc/passwd' }, 13],
  ['a directory that is not there', { cwd: Buffer.from('/no/such') }, 2],
  ['a terminal that is none', { takesTerminal: true }, 25],
  ['an argument that is too long', { argv: ['sh', '-c', 'x'.repeat(200_000)] }, 7],
])('says why it fails: %s', async (_name, request, errno) => {
  expect(await enter(request)).toEqual({ output: '', status: [0, errno], exitCode: 127 });
});

it('takes a thousand arguments', async () => {
  const args = Array.from({ length: 1_000 }, (_, index) => `${index}`.repeat(100));
  const { output } = await enter({ argv: ['sh', '-c', 'printf %s "$@"', 'sh', ...args] });
  expect(output).toBe(args.join(''));
});
