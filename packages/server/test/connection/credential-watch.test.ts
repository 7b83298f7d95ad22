import { expect, test } from 'vitest';
import { CredentialWatch } from '../../src/connection/credential-watch.js';
import { FakeClock } from '../support/fake-clock.js';

function watch(goodForMs: number) {
  const clock = new FakeClock();
  const wall = { now: 0 };
  let ends = 0;
  const credential = new CredentialWatch(
    () => goodForMs - wall.now,
    clock,
    () => {
      ends++;
    },
  );
  /** Both clocks go on. */
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      wall.now += Math.min(left, 1_000);
      clock.advance(Math.min(left, 1_000));
    }
  };
  return { clock, wall, pass, credential, ends: () => ends };
}

test.each([
  { ms: 9_999, ends: 0 },
  { ms: 10_000, ends: 1 },
  { ms: 10_001, ends: 1 },
])('a credential for 10,000 ms after $ms has ended $ends times', ({ ms, ends }) => {
  const watched = watch(10_000);
  watched.pass(ms);
  expect(watched.ends()).toBe(ends);
  watched.pass(100_000);
  expect(watched.ends()).toBe(1);
  expect(watched.clock.pendingTimers).toBe(0);
});

test.each([2 ** 31 - 1, 2 ** 31, 2 ** 63, Number.POSITIVE_INFINITY])('%d ms are not over at once', (ms) => {
  const watched = watch(ms);
  watched.clock.advance(600_000);
  expect(watched.ends()).toBe(0);
  watched.credential.stop();
  expect(watched.clock.pendingTimers).toBe(0);
});

test('a wall clock that is set ahead, as after a sleep, is noticed within a minute', () => {
  const watched = watch(3_600_000);
  watched.pass(1_000);
  watched.wall.now += 3_600_000;
  watched.clock.advance(59_000);
  expect(watched.ends()).toBe(1);
});

test('one that is set back gives the time back', () => {
  const watched = watch(10_000);
  watched.pass(5_000);
  watched.wall.now -= 5_000;
  watched.clock.advance(5_000);
  expect(watched.ends()).toBe(0);
  watched.pass(10_000);
  expect(watched.ends()).toBe(1);
});

test('a credential that is over already ends at once, but not before its connection is made', () => {
  const watched = watch(0);
  expect(watched.ends()).toBe(0);
  watched.clock.advance(0);
  expect(watched.ends()).toBe(1);
});
