import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { collectNearDescendants, readChildNumbers } from '../../src/native/children.js';
import { readProcess } from '../../src/native/process-tree.js';

/** A shell with a child in a session of its own, which has a child too; tells the numbers of these. */
async function startFamily(): Promise<{ shell: ChildProcess; pids: number[] }> {
  const script = "setsid sh -c 'sleep 300 & echo $$ $!; wait' & wait";
  const shell = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(shell.stdout, 'data')) as [Buffer];
  const pids = [shell.pid!, ...line.toString().trim().split(' ').map(Number)];
  onTestFinished(() => {
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  });
  return { shell, pids };
}

it('lists a process with its descendants, whatever their sessions', async () => {
  const { shell, pids } = await startFamily();
  const expected = pids.map((pid) => ({ pid, startTime: readProcess(pid)!.startTime }));
  expect(collectNearDescendants(shell.pid!)).toEqual(expected);
});

it('lists nobody who is not a child of this process', async () => {
  const { pids } = await startFamily();
  expect(collectNearDescendants(pids[1]!)).toEqual([]);
  expect(readChildNumbers(2 ** 22 + 1)).toBeNull();
});
