import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ProcessCgroup } from '../../src/native/cgroup/process-cgroup.js';
import { nameProcesses } from '../../src/native/process-tree.js';
import { OsError } from '../../src/os-error.js';
import { killTrees, stopAndKill, type TreeRoot } from '../../src/terminate/kill-trees.js';

const EPERM = 1;

/** A number that no process has. */
const UNKNOWN: TreeRoot = {
  pid: 2 ** 22 + 1,
  reaped: false,
  pidForgotten: false,
  cgroup: null,
  mark: null,
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

describe('when nobody can be looked for', () => {
  const cannotLook = () => {
    throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
  };

  async function startSleeper(): Promise<{ sleeper: ChildProcess; root: TreeRoot }> {
    const sleeper = spawn('/bin/sleep', ['300'], { detached: true });
    await once(sleeper, 'spawn');
    const pid = sleeper.pid!;
    return { sleeper, root: { ...UNKNOWN, pid, signalGroup: (signal) => process.kill(-pid, signal) } };
  }

  it('kills who was stopped all the same, and says that somebody may be left', async () => {
    const { sleeper, root } = await startSleeper();
    const other = spawn('/bin/sleep', ['300'], { detached: true });
    await once(other, 'spawn');
    const [member] = nameProcesses([other.pid!]);
    let looks = 0;
    const outcome = stopAndKill([root], () => {
      looks += 1;
      return looks === 1 ? [member!] : cannotLook();
    });
    expect(outcome).toMatchObject({ pids: [other.pid], failure: { code: 'EMFILE' } });
    expect(await Promise.all([once(sleeper, 'exit'), once(other, 'exit')])).toEqual([
      [null, 'SIGKILL'],
      [null, 'SIGKILL'],
    ]);
  });

  it('tries again until it can, and tells whom that reached', async () => {
    const { sleeper, root } = await startSleeper();
    let looks = 0;
    const cgroup = {
      freeze: () => {},
      thaw: () => {},
      readThreads: () => {
        looks += 1;
        // One attempt asks twice.
        return looks <= 4 ? cannotLook() : [];
      },
    } as Partial<ProcessCgroup> as ProcessCgroup;
    // A group out of reach, so that the first attempts, which find nobody, leave the process for the last.
    const { pids, rest } = killTrees([{ ...root, cgroup, signalGroup: () => false }]);
    expect(pids).toEqual([]);
    expect(sleeper.exitCode).toBeNull();
    const timer = setInterval(() => {}, 1_000);
    expect(await rest).toEqual({ pids: [sleeper.pid], refusal: undefined });
    clearInterval(timer);
    expect(await once(sleeper, 'exit')).toEqual([null, 'SIGKILL']);
  });
});
