import { expect, test } from 'vitest';
import { Template } from '../../src/template/template.js';

const row = { a: 'A', 'b c': '{a}', n: 7, o: { x: [1] }, empty: '' };
const columns = new Set([...Object.keys(row), 'absent']);

test.each([
  ['{a}', 'A'],
  ['x{a}y{a}', 'xAyA'],
  ['{b c}', '{a}'],
  ['{n} {o} {empty}.', '7 {"x":[1]} .'],
  ['{absent}', ''],
  ['{{a}}', '{a}'],
  ['{{{a}}}', '{A}'],
  ['{unknown} {', '{unknown} {'],
  ['{ a}', '{ a}'],
  ['{a', '{a'],
  ['a}', 'a}'],
  ['{x{a}', '{xA'],
  ['{}', '{}'],
  ['$(rm -rf {a}); `{a}`', '$(rm -rf A); `A`'],
  ['', ''],
  ['{toString}{__proto__}', '{toString}{__proto__}'],
])('%j', (text, filled) => {
  expect(new Template(text, columns).fill(row)).toBe(filled);
});

test('a long text full of braces takes time in proportion', () => {
  const text = '{x'.repeat(500_000);
  expect(new Template(text, columns).fill(row)).toBe(text);
});
