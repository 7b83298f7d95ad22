import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { OsError } from '../../src/os-error.js';
import { killTrees, type TreeRoot } from '../../src/terminate/kill-trees.js';

const EPERM = 1;

it('kills the others when one is out of reach, and says so', async () => {
  const sleeper = spawn('/bin/sleep', ['300'], { detached: true });
  await once(sleeper, 'spawn');
  const pid = sleeper.pid!;
  const reachable: TreeRoot = { pid, reaped: false, signalGroup: (signal) => process.kill(-pid, signal) };
  const outOfReach: TreeRoot = {
    pid: 2 ** 22 + 1,
    reaped: false,
    signalGroup: () => {
      throw new OsError(EPERM, 'kill');
    },
  };
  expect(killTrees([outOfReach, reachable])).toMatchObject({ pids: [pid], refusal: { errno: EPERM } });
  expect(await once(sleeper, 'exit')).toEqual([null, 'SIGKILL']);
});

it('has nothing to say about processes that are gone', () => {
  const gone: TreeRoot = { pid: 2 ** 22 + 1, reaped: true, signalGroup: () => false };
  expect(killTrees([gone])).toEqual({ pids: [], refusal: undefined });
});
