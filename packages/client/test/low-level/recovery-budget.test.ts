import { expect, test } from 'vitest';
import { RecoveryBudget } from '../../src/low-level/recovery-budget.js';

/** A budget whose clock and dice the test moves. */
function budgetOf(options = {}, random = () => 0) {
  const clock = { ms: 0 };
  return { clock, budget: new RecoveryBudget(options, () => clock.ms, random) };
}

test('waits double from 100 ms up to the cap', () => {
  const { budget } = budgetOf({ maxDelayMs: 1_000 });
  expect(Array.from({ length: 6 }, () => budget.nextDelayMs())).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test('chance takes up to half of a wait away', () => {
  expect(budgetOf({}, () => 0.999_999).budget.nextDelayMs()).toBeCloseTo(50, 1);
});

test('no wait is longer than the time that is left', () => {
  const { budget, clock } = budgetOf({ deadlineMs: 1_000 });
  budget.begin();
  clock.ms = 899;
  expect(budget.nextDelayMs()).toBe(100);
  clock.ms = 901;
  expect(budget.nextDelayMs()).toBeUndefined();
});

test('25 s by default', () => {
  expect(budgetOf().budget.remainingMs).toBe(25_000);
});

test('only time spent recovering counts, and progress gives it back', () => {
  const { budget, clock } = budgetOf({ deadlineMs: 1_000 });
  budget.begin();
  clock.ms = 400;
  budget.finish();
  clock.ms = 100_000;
  expect(budget.remainingMs).toBe(600);
  budget.begin();
  clock.ms += 100;
  expect(budget.remainingMs).toBe(500);
  budget.finish();
  budget.nextDelayMs();
  budget.refill();
  expect([budget.remainingMs, budget.nextDelayMs()]).toEqual([1_000, 100]);
});
