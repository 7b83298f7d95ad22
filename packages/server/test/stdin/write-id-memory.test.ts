import { expect, it } from 'vitest';
import { WriteIdMemory } from '../../src/stdin/write-id-memory.js';

it.each([
  [2, true],
  [3, true],
  [4, false],
])('of the newest three ids still knows the first after %i', (count, known) => {
  const memory = new WriteIdMemory(3);
  for (let id = 1; id <= count; id++) memory.add(`w${id}`);
  expect(memory.has('w1')).toBe(known);
  expect(memory.has(`w${count}`)).toBe(true);
});

it('tells long ids apart without keeping them', () => {
  const memory = new WriteIdMemory(3);
  memory.add(`${'x'.repeat(100_000)}a`);
  expect(memory.has(`${'x'.repeat(100_000)}a`)).toBe(true);
  expect(memory.has(`${'x'.repeat(100_000)}b`)).toBe(false);
});

it.each([63, 64, 65])('tells ids of %i characters apart', (length) => {
  const memory = new WriteIdMemory(3);
  const id = (last: string) => `${'x'.repeat(length - 1)}${last}`;
  memory.add(id('a'));
  expect([memory.has(id('a')), memory.has(id('b')), memory.has(`${id('a')}x`)]).toEqual([true, false, false]);
});
