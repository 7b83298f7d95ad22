import { expect, test } from 'vitest';
import { Listeners } from '../../src/low-level/listeners.js';

test('tells everybody who listens at that moment, in order', () => {
  const listeners = new Listeners<number>();
  const told: string[] = [];
  const stop = listeners.add((value) => {
    told.push(`a${value}`);
    if (value === 1) listeners.add((later) => told.push(`c${later}`));
  });
  listeners.add((value) => told.push(`b${value}`));
  listeners.tell(1);
  stop();
  stop();
  listeners.tell(2);
  listeners.clear();
  listeners.tell(3);
  expect(told).toEqual(['a1', 'b1', 'b2', 'c2']);
});

test('one that is added twice is told twice and removed one by one', () => {
  const listeners = new Listeners<number>();
  const told: number[] = [];
  const listener = (value: number) => told.push(value);
  const stop = listeners.add(listener);
  listeners.add(listener);
  listeners.tell(1);
  stop();
  listeners.tell(2);
  expect(told).toEqual([1, 1, 2]);
});
