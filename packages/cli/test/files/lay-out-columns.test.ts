import { expect, it } from 'vitest';
import { layOutColumns } from '../../src/files/lay-out-columns.js';

const cells = ['a', 'bb', 'ccc', 'd', 'e'].map((text) => ({ text, width: text.length }));

it.each([
  [23, 'a    bb   ccc  d    e\n'],
  [22, 'a    ccc  e\nbb   d\n'],
  [13, 'a    ccc  e\nbb   d\n'],
  [12, 'a    d\nbb   e\nccc\n'],
  [2, 'a\nbb\nccc\nd\ne\n'],
])('as many side by side as %d columns hold', (width, text) => {
  expect(layOutColumns(cells, width)).toBe(text);
});

it('counts what is seen, not what is written', () => {
  const red = { text: '\u001b[31mx\u001b[39m', width: 1 };
  expect(layOutColumns([red, red], 4)).toBe(`${red.text}  ${red.text}\n`);
});
