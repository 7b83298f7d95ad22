import { expect, it } from 'vitest';
import { CommandNumbers } from '../../../src/dialects/exec-v0/command-numbers.js';

it('counts what has started', async () => {
  const numbers = new CommandNumbers();
  const failing = () => Promise.reject(new Error('no'));
  expect(await numbers.take(async (number) => number)).toBe(1);
  await expect(numbers.take(failing)).rejects.toThrow('no');
  expect(await numbers.take(async (number) => number)).toBe(2);
});

it('gives no number twice, however starts overlap', async () => {
  const numbers = new CommandNumbers();
  let fail = () => {};
  const first = numbers.take(() => new Promise((_, reject) => (fail = () => reject(new Error('no')))));
  expect(await numbers.take(async (number) => number)).toBe(2);
  fail();
  await expect(first).rejects.toThrow('no');
  expect(await numbers.take(async (number) => number)).toBe(3);
});
