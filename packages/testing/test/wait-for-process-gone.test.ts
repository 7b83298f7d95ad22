import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { isRunning, waitForProcessGone } from '../src/wait-for-process-gone.js';

test('a process runs until it is killed', async () => {
  const child = spawn('sleep', ['300'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  expect(isRunning(pid)).toBe(true);
  await expect(waitForProcessGone(pid, 1)).rejects.toThrow(`process ${pid} is still running`);
  child.kill('SIGKILL');
  await waitForProcessGone(pid);
  expect(isRunning(pid)).toBe(false);
});

test('a zombie counts as gone', async () => {
  // The shell becomes `sleep`, which never asks what became of the child that the shell had started.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 300'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    await waitForProcessGone(Number(line.toString()));
  } finally {
    parent.kill('SIGKILL');
  }
});
