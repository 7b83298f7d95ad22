import { fixture, isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLauncher } from '../../src/native/launcher.js';
import { killOneTree } from '../../src/terminate/kill-one-tree.js';
import type { TreeRoot } from '../../src/terminate/kill-trees.js';
import { sharedLooks } from '../../src/terminate/shared-looks.js';
import { planOf, run } from '../native/launch-helper.js';
import { requireCgroups } from '../support/cgroups.js';
import { countProcessLooks } from '../support/process-looks.js';

const TREES = 40;
const SLEEP = planOf('/bin/sleep', ['300']);

function startTrees(cgroups: boolean) {
  const launcher = createLauncher({ guardian: false, cgroups });
  onTestFinished(() => launcher.close());
  const trees = Array.from({ length: TREES }, () => run(launcher, SLEEP));
  return { launcher, trees };
}

describe.each([true, false])('trees that are killed together (cgroups: %s)', (cgroups) => {
  it('are found by the same few looks, each with its own members', async (test) => {
    if (cgroups) requireCgroups(test);
    const { launcher, trees } = startTrees(cgroups);
    const bystander = run(launcher, SLEEP);
    const family = run(launcher, planOf(fixture('setsid-grandchild'), []));
    const grandchild = Number((await family.waitFor(/(\d+)/))[1]);
    const countLooks = countProcessLooks();
    const all = [...trees, family];
    const outcomes = await Promise.all(all.map(({ child }) => killOneTree(child)));
    expect(countLooks()).toBeLessThan(6);
    expect(outcomes.slice(0, TREES).map(({ pids }) => pids)).toEqual(trees.map(({ child }) => [child.pid]));
    expect(outcomes.at(-1)?.pids).toEqual(expect.arrayContaining([family.child.pid, grandchild]));
    for (const { refusal, rest } of outcomes) expect([refusal, rest]).toEqual([undefined, undefined]);
    await Promise.all([...all.map(({ done }) => done), waitForProcessGone(grandchild)]);
    expect(isRunning(bystander.child.pid)).toBe(true);
  });

  it('let the loop turn before they are all killed', async (test) => {
    if (cgroups) requireCgroups(test);
    const { trees } = startTrees(cgroups);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(trees.map(({ child }) => killOneTree(child)));
    isOver = true;
    expect(turns).toBeGreaterThan(3);
    await Promise.all(trees.map(({ done }) => done));
  });
});

it('whoever asks while a look goes on waits for the next', async () => {
  const { trees } = startTrees(false);
  const [first, second] = trees.map(({ child }) => child) as readonly TreeRoot[] as [TreeRoot, TreeRoot];
  const countLooks = countProcessLooks();
  const early = sharedLooks.find(first);
  await new Promise((resolve) => setImmediate(resolve));
  expect(countLooks()).toBe(1);
  const late = sharedLooks.find(second);
  expect(await early).toMatchObject([{ pid: first.pid }]);
  expect(await late).toMatchObject([{ pid: second.pid }]);
  expect(countLooks()).toBe(2);
});
