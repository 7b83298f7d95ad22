import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { findChildren, readInnerPid } from '../../src/native/namespace-members.js';

it.runIf(process.platform === 'linux')('finds children, eldest first, while they run', async () => {
  const child = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!; sleep 1000 & echo $!; wait'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  while (printed.split('\n').length < 3) printed += String((await once(child.stdout, 'data'))[0]);
  const pids = printed.trim().split('\n').map(Number);
  expect(findChildren(child.pid!).map(({ pid }) => pid)).toEqual(pids);
  expect(readInnerPid(process.pid)).toBe(process.pid);
  for (const pid of pids) process.kill(pid);
  await once(child, 'exit');
  expect(findChildren(child.pid!)).toEqual([]);
  expect(readInnerPid(child.pid!)).toBeUndefined();
});
