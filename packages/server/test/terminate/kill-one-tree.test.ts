import { fixture, isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLauncher } from '../../src/native/launcher.js';
import { killOneTree } from '../../src/terminate/kill-one-tree.js';
import { planOf, run, shell } from '../native/launch-helper.js';
import { requireCgroups } from '../support/cgroups.js';
import { LEFT, leavingChild } from '../support/leaving-child.js';
import { countProcessLooks } from '../support/process-looks.js';
import { openServer, openSession, startParams } from '../support/session.js';

const SLEEP = planOf('/bin/sleep', ['300']);

function openLauncher(options: Parameters<typeof createLauncher>[0] = {}) {
  const launcher = createLauncher({ guardian: false, ...options });
  onTestFinished(() => launcher.close());
  return launcher;
}

describe('killing one tree', () => {
  it('looks at nobody else: descendants in other sessions are found in its cgroup', async (test) => {
    requireCgroups(test);
    const launcher = openLauncher();
    const bystander = run(launcher, SLEEP);
    const tree = run(launcher, planOf(fixture('setsid-grandchild'), []));
    const grandchild = Number((await tree.waitFor(/(\d+)/))[1]);
    const countLooks = countProcessLooks();
    const { pids, refusal, killStragglers } = await killOneTree(tree.child);
    expect(countLooks()).toBe(0);
    expect(pids).toEqual(expect.arrayContaining([tree.child.pid, grandchild]));
    expect(refusal).toBeUndefined();
    expect(await tree.done).toEqual({ kind: 'signaled', signal: 9 });
    await waitForProcessGone(grandchild);
    expect(isRunning(bystander.child.pid)).toBe(true);
    // The next test counts looks too.
    expect(await killStragglers!()).toEqual({ pids: [], refusal: undefined });
  });

  it('answers a client who ends one of many without a look at all of them', async (test) => {
    requireCgroups(test);
    const wire = await openSession(openServer());
    const ids = Array.from({ length: 8 }, (_, index) => `p${index}`);
    for (const id of ids) await wire.request('process/start', startParams(id, ['/bin/sleep', '300']));
    const countLooks = countProcessLooks();
    expect((await wire.request('process/terminate', { processId: 'p3' })).result).toMatchObject({
      running: true,
      pids: [expect.any(Number)],
    });
    expect(countLooks()).toBe(0);
  });

  it('reaches a child that left the cgroup and still has its parent, and everybody is looked at', async (test) => {
    const { program, args } = leavingChild(test, { orphaned: false });
    const tree = run(openLauncher(), planOf(program, args));
    const left = Number((await tree.waitFor(LEFT))[1]);
    const { pids, killStragglers } = await killOneTree(tree.child);
    expect(pids).toEqual(expect.arrayContaining([tree.child.pid, left]));
    expect(killStragglers).toBeUndefined();
    await Promise.all([waitForProcessGone(left), tree.done]);
  });

  it('looks once at everybody where there is no cgroup', async () => {
    const launcher = openLauncher({ cgroups: false });
    const tree = run(launcher, planOf(fixture('setsid-grandchild'), []));
    const grandchild = Number((await tree.waitFor(/(\d+)/))[1]);
    const countLooks = countProcessLooks();
    const { pids, killStragglers } = await killOneTree(tree.child);
    expect(countLooks()).toBe(1);
    expect(pids).toEqual(expect.arrayContaining([tree.child.pid, grandchild]));
    expect(killStragglers).toBeUndefined();
    await Promise.all([waitForProcessGone(grandchild), tree.done]);
  });

  it('finds members of the session without parents where there is no cgroup', async () => {
    const launcher = openLauncher({ cgroups: false });
    const tree = run(launcher, shell('(sleep 300 & echo pid $!.); exec sleep 300'));
    const orphan = Number((await tree.waitFor(/pid (\d+)\./))[1]);
    expect((await killOneTree(tree.child)).pids).toEqual(expect.arrayContaining([tree.child.pid, orphan]));
    await Promise.all([waitForProcessGone(orphan), tree.done]);
  });

  it('finds what a process left whose end nobody has noticed yet', async (test) => {
    requireCgroups(test);
    const script = 'setsid sh -c "echo pid \\$\\$.; exec >/dev/null 2>&1; exec sleep 300" & wait';
    const tree = run(openLauncher(), shell(script));
    const left = Number((await tree.waitFor(/pid (\d+)\./))[1]);
    tree.child.signalGroup(9);
    expect((await killOneTree(tree.child)).pids).toContain(left);
    await waitForProcessGone(left);
  });
});
