import { expect, it } from 'vitest';
import { matchesWildcard } from '../../src/process/wildcard.js';

it.each([
  ['PATH', 'path', true],
  ['MY_TOKEN', '*token*', true],
  ['USER', 'use?', true],
  ['USERS', 'use?', false],
  ['USER', '[uU]SER', false],
  ['[uU]SER', '[uU]SER', true],
  ['', '', true],
  ['', '*', true],
  ['A', '', false],
  ['AB', '*?*', true],
  ['ABC', 'a*c', true],
  ['ABCD', 'a*c', false],
  ['ABCABC', '*abc', true],
  ['ÄB', '?b', true],
  ['A.B', 'a.b', true],
  ['AXB', 'a.b', false],
])('%s against %s: %s', (name, pattern, matches) => {
  expect(matchesWildcard(name, pattern)).toBe(matches);
});

it('answers a pattern full of stars about a long name', () => {
  expect(matchesWildcard('A'.repeat(2_000), `${'*a'.repeat(1_000)}*b`)).toBe(false);
});
