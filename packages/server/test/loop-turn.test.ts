import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LoopTurn, mapInTurns, runInTurns, type Steps, whenKnown } from '../src/loop-turn.js';

function* count(steps: number, spin: () => void = () => {}): Steps<number> {
  for (let step = 0; step < steps; step++) {
    spin();
    yield;
  }
  return steps;
}

/** Uses the processor for a while. */
function spin(): void {
  const end = performance.now() + 0.2;
  while (performance.now() < end);
}

it('does small work at once, and large work later', async () => {
  expect(runInTurns(count(1_023))).toBe(1_023);
  expect(runInTurns(count(1_024))).toBeInstanceOf(Promise);
  const later = runInTurns(count(10_000));
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(10_000);
  const known = runInTurns(count(1), true);
  expect(known).toBeInstanceOf(Promise);
  expect(await known).toBe(1);
});

it('lets others have their turn while it does large work', async () => {
  let over = false;
  const work = Promise.resolve(runInTurns(count(2_500, spin))).then(() => (over = true));
  let turns = 0;
  while (!over) {
    await setImmediate();
    turns++;
  }
  await work;
  // The first steps are taken at once; those after them are some turns.
  expect(turns).toBeGreaterThan(5);
});

it('fails at once or later, as it works', async () => {
  function* fail(): Steps<never> {
    yield* count(0);
    throw new Error('now');
  }
  function* failLater(): Steps<never> {
    yield* count(3_000);
    throw new Error('later');
  }
  expect(() => runInTurns(fail())).toThrow('now');
  await expect(runInTurns(failLater())).rejects.toThrow('later');
});

it('is over after a while, and not after a pause', async () => {
  const turn = new LoopTurn();
  const isEverOver = () => Array.from({ length: 64 }, () => turn.isOver).includes(true);
  while (!isEverOver()) spin();
  await turn.pause();
  expect(turn.isOver).toBe(false);
});

it('runs so many tasks at a time, and gives results in order', async () => {
  let running = 0;
  let most = 0;
  const results = await mapInTurns([3, 1, 2, 5, 4], 2, async (item) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < item; turn++) await setImmediate();
    running--;
    return item * 10;
  });
  expect(results).toEqual([30, 10, 20, 50, 40]);
  expect(most).toBe(2);
});

it('shares a turn between all tasks', async () => {
  let over = false;
  const work = mapInTurns(Array.from({ length: 1_000 }), 16, async () => spin()).then(() => (over = true));
  let turns = 0;
  while (!over) {
    await setImmediate();
    turns++;
  }
  await work;
  // A turn for each of them in every turn of the loop would make it a few.
  expect(turns).toBeGreaterThan(15);
});

it('goes on at once with what is known', async () => {
  expect(whenKnown(1, (value) => value + 1)).toBe(2);
  expect(await whenKnown(Promise.resolve(1), (value) => value + 1)).toBe(2);
});
