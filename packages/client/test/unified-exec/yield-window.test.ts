import { describe, expect, test } from 'vitest';
import {
  execYieldMs,
  HoldableTimers,
  pollYieldMs,
  waitAtMost,
  writeYieldMs,
} from '../../src/unified-exec/yield-window.js';
import { ManualClock } from '../support/manual-clock.js';

describe('bounds', () => {
  test.each([
    [0, 250],
    [249, 250],
    [250, 250],
    [251, 251],
    [29_999, 29_999],
    [30_000, 30_000],
    [30_001, 30_000],
  ])('of %i ms a command and a write get %i', (requested, effective) => {
    expect(execYieldMs(requested, false)).toBe(effective);
    expect(writeYieldMs(requested)).toBe(effective);
  });

  test.each([
    [9999, 10_000],
    [10_000, 10_000],
    [10_001, 10_001],
    [30_001, 30_000],
  ])('of %i ms a command on Windows gets %i', (requested, effective) => {
    expect(execYieldMs(requested, true)).toBe(effective);
  });

  test.each([
    [100, 5000],
    [4999, 5000],
    [5000, 5000],
    [5001, 5001],
    [299_999, 299_999],
    [300_000, 300_000],
    [300_001, 300_000],
  ])('of %i ms a call without input gets %i', (requested, effective) => {
    expect(pollYieldMs(requested, 300_000)).toBe(effective);
  });

  test('a call without input never gets less than 5000 ms', () => {
    expect(pollYieldMs(10_000, 1000)).toBe(5000);
  });
});

describe('waitAtMost', () => {
  const clock = new ManualClock();
  const start = clock.after.bind(clock);

  test('ends with the promise', async () => {
    await expect(waitAtMost(Promise.resolve(), 10, start, undefined)).resolves.toBeUndefined();
  });

  test('ends with the time', async () => {
    const waiting = waitAtMost(new Promise(() => {}), 10, start, undefined);
    await clock.elapse(10);
    await expect(waiting).resolves.toBeUndefined();
  });

  test('ends with the reason of the signal', async () => {
    const controller = new AbortController();
    const waiting = waitAtMost(new Promise(() => {}), 10, start, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('held timers', () => {
  function startTimer(delayMs: number) {
    const clock = new ManualClock();
    const timers = new HoldableTimers(clock);
    let ran = false;
    const timer = timers.start(delayMs, () => {
      ran = true;
    });
    return { clock, timers, timer, hasRun: () => ran };
  }

  test('the time that they are held does not count', () => {
    const { clock, timers, hasRun } = startTimer(100);
    clock.advance(60);
    const release = timers.hold();
    clock.advance(1000);
    release();
    clock.advance(39);
    expect(hasRun()).toBe(false);
    clock.advance(1);
    expect(hasRun()).toBe(true);
  });

  test('they stand still until the last holder lets go, and each lets go once', () => {
    const { clock, timers, hasRun } = startTimer(100);
    const [first, second] = [timers.hold(), timers.hold()];
    first();
    first();
    clock.advance(100);
    expect(hasRun()).toBe(false);
    second();
    clock.advance(100);
    expect(hasRun()).toBe(true);
  });

  test('one that is started meanwhile waits, too', () => {
    const { clock, timers } = startTimer(100);
    const release = timers.hold();
    let ran = false;
    timers.start(5, () => {
      ran = true;
    });
    clock.advance(50);
    expect(ran).toBe(false);
    release();
    clock.advance(5);
    expect(ran).toBe(true);
  });

  test('one that was cancelled while held stays so', () => {
    const { clock, timers, timer, hasRun } = startTimer(100);
    const release = timers.hold();
    timer.cancel();
    release();
    clock.advance(1000);
    expect(hasRun()).toBe(false);
  });
});
