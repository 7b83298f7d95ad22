import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { OsError } from '../../src/os-error.js';
import { killTrees, type TreeRoot } from '../../src/terminate/kill-trees.js';

const EPERM = 1;

/** A number that no process has. */
const UNKNOWN: TreeRoot = {
  pid: 2 ** 22 + 1,
  reaped: false,
  pidForgotten: false,
  cgroup: null,
  signalGroup: () => false,
};

it('kills the others when one is out of reach, and says so', async () => {
  const sleeper = spawn('/bin/sleep', ['300'], { detached: true });
  await once(sleeper, 'spawn');
  const pid = sleeper.pid!;
  const reachable: TreeRoot = { ...UNKNOWN, pid, signalGroup: (signal) => process.kill(-pid, signal) };
  const outOfReach: TreeRoot = {
    ...UNKNOWN,
    signalGroup: () => {
      throw new OsError(EPERM, 'kill');
    },
  };
  expect(killTrees([outOfReach, reachable])).toMatchObject({ pids: [pid], refusal: { errno: EPERM } });
  expect(await once(sleeper, 'exit')).toEqual([null, 'SIGKILL']);
});

it('has nothing to say about processes that are gone', () => {
  const gone: TreeRoot = { ...UNKNOWN, reaped: true };
  expect(killTrees([gone])).toEqual({ pids: [], refusal: undefined });
});

it('leaves those alone who have the number of a tree that was forgotten', async () => {
  const sleeper = spawn('/bin/sleep', ['300'], { detached: true });
  await once(sleeper, 'spawn');
  const forgotten: TreeRoot = { ...UNKNOWN, pid: sleeper.pid!, reaped: true, pidForgotten: true };
  expect(killTrees([forgotten])).toEqual({ pids: [], refusal: undefined });
  // As the leader of a session that lives on without it.
  expect(killTrees([{ ...forgotten, reaped: false }])).toEqual({ pids: [], refusal: undefined });
  expect(process.kill(sleeper.pid!, 0)).toBe(true);
  sleeper.kill('SIGKILL');
  await once(sleeper, 'exit');
});
