import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isRunning, type SkippableTest, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLauncher } from '../../src/native/launcher.js';
import { readProcess } from '../../src/native/process-tree.js';
import { killOneTree } from '../../src/terminate/kill-one-tree.js';
import { stragglerSweep } from '../../src/terminate/straggler-sweep.js';
import { planOf, run } from '../native/launch-helper.js';
import { requireCgroups } from '../support/cgroups.js';
import { LEFT, leavingChild } from '../support/leaving-child.js';
import { countProcessLooks } from '../support/process-looks.js';
import { openServer, openSession, startParams, untilPrinted } from '../support/session.js';

function openLauncher() {
  const launcher = createLauncher({ guardian: false });
  onTestFinished(() => launcher.close());
  return launcher;
}

/** Kills a tree of which somebody has left the cgroup and lost its parents. */
async function killAllButStraggler(test: SkippableTest) {
  const { program, args } = leavingChild(test, { orphaned: true });
  const tree = run(openLauncher(), planOf(program, args));
  const straggler = Number((await tree.waitFor(LEFT))[1]);
  const { pids, killStragglers } = await killOneTree(tree.child);
  expect(pids).toEqual([tree.child.pid]);
  expect(isRunning(straggler)).toBe(true);
  return { straggler, killStragglers: killStragglers! };
}

describe('one who left the cgroup of its tree, and lost its parents', () => {
  it('ends soon after the others', async (test) => {
    const { straggler } = await killAllButStraggler(test);
    await waitForProcessGone(straggler);
  });

  it('ends at once for who waits for it, and is named', async (test) => {
    const { straggler, killStragglers } = await killAllButStraggler(test);
    expect(await killStragglers()).toEqual({ pids: [straggler], refusal: undefined });
    await waitForProcessGone(straggler);
  });

  it('has ended when a client who waits gets the answer', async (test) => {
    const { program, args } = leavingChild(test, { orphaned: true });
    const wire = await openSession(openServer());
    const { result: started } = await wire.request('process/start', startParams('p', [program, ...args]));
    await untilPrinted(wire, 'p', 'left');
    const outputs = wire.received.filter(({ method }) => method === 'process/output');
    const printed = outputs.map(({ params }) => atob(params?.chunk as string)).join('');
    const straggler = Number(LEFT.exec(printed)![1]);
    const { result } = await wire.request('process/terminate', { processId: 'p', wait: true });
    expect(result).toEqual({ running: true, pids: [started?.pid, straggler] });
    expect(isRunning(straggler)).toBe(false);
  });
});

describe('the sweep for stragglers', () => {
  it('takes one look for all trees that are killed in a turn of the loop', async (test) => {
    requireCgroups(test);
    const launcher = openLauncher();
    const children = Array.from({ length: 3 }, () => run(launcher, planOf('/bin/sleep', ['300'])).child);
    const countLooks = countProcessLooks();
    const killed = await Promise.all(children.map((child) => killOneTree(child)));
    const outcomes = await Promise.all(killed.map(({ killStragglers }) => killStragglers!()));
    expect(outcomes).toEqual(children.map(() => ({ pids: [], refusal: undefined })));
    expect(countLooks()).toBe(1);
  });

  it('leaves those alone who have got a number of the tree meanwhile', async () => {
    const sleeper = spawn('/bin/sleep', ['300'], { detached: true });
    await once(sleeper, 'spawn');
    const pid = sleeper.pid!;
    const { startTime } = readProcess(pid)!;
    const root = {
      pid,
      reaped: true,
      pidForgotten: false,
      cgroup: null,
      mark: null,
      signalGroup: () => false,
    };
    const member = { pid, startTime: startTime - 1 };
    const other = { ...root, pid: 2 ** 22 + 1 };
    const hurried = [
      stragglerSweep.add({ root, members: [member] }),
      stragglerSweep.add({ root: other, members: [member] }),
    ].map((killStragglers) => killStragglers());
    expect((await Promise.all(hurried)).flatMap(({ pids }) => pids)).toEqual([]);
    expect(isRunning(pid)).toBe(true);
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
  });
});
