import { expect, it } from 'vitest';
import type { TreeRoot } from '../../src/terminate/kill-trees.js';
import { type EndAttempt, UnfinishedEnds } from '../../src/terminate/unfinished-ends.js';

const tree = (pid: number): TreeRoot => ({
  pid,
  reaped: false,
  pidForgotten: false,
  cgroup: null,
  mark: null,
  signalGroup: () => false,
});

/** Ends that fail so many times, and whose trees each attempt was about. */
function failing(times: number) {
  const asked: number[][] = [];
  const ends = new UnfinishedEnds((roots): EndAttempt => {
    asked.push(roots.map(({ pid }) => pid));
    const outcome = { pids: [asked.length], refusal: undefined };
    return asked.length > times ? outcome : { ...outcome, failure: new Error('cannot look') };
  });
  return { asked, ends };
}

/** The timers of ends do not keep a program alive. */
async function keepAlive<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 1_000);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

it('are tried again until nobody can have been overlooked', async () => {
  const { asked, ends } = failing(3);
  const outcome = await keepAlive(ends.add([tree(7)]));
  expect(outcome).toEqual({ pids: [4], refusal: undefined });
  expect(asked).toEqual([[7], [7], [7], [7]]);
});

it('share each attempt, and are over together', async () => {
  const { asked, ends } = failing(0);
  const [first, second] = [tree(1), tree(2)];
  const outcomes = Promise.all([ends.add([first]), ends.add([second, first])]);
  expect(await keepAlive(outcomes)).toEqual(Array(2).fill({ pids: [1], refusal: undefined }));
  expect(asked).toEqual([[1, 2]]);
  await keepAlive(ends.add([second]));
  expect(asked).toEqual([[1, 2], [2]]);
});
