import { expect, it } from 'vitest';
import { LineSplitter, MAX_LINE_CHARACTERS } from '../../src/process/line-splitter.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);

it('hands on lines when they end, and the last one at the end', () => {
  const splitter = new LineSplitter();
  expect(splitter.push(bytesOf('a'))).toEqual([]);
  expect(splitter.rest).toBe('a');
  expect(splitter.push(bytesOf('b\nc\r'))).toEqual(['ab']);
  expect(splitter.push(bytesOf('\n\nd'))).toEqual(['c', '']);
  expect(splitter.end()).toEqual(['d']);
  expect(splitter.end()).toEqual([]);
});

it('joins characters that come in pieces, and shows what never was one', () => {
  const splitter = new LineSplitter();
  const [first, second, third] = bytesOf('€');
  expect(splitter.push(Uint8Array.of(first as number))).toEqual([]);
  expect(splitter.push(Uint8Array.of(second as number, third as number, 0x0a, 0xe2))).toEqual(['€']);
  expect(splitter.end()).toEqual(['\ufffd']);
});

it.each([
  [MAX_LINE_CHARACTERS - 1, []],
  [MAX_LINE_CHARACTERS, []],
  [MAX_LINE_CHARACTERS + 1, [MAX_LINE_CHARACTERS + 1]],
])('a line of %i characters that has not ended is held up to the limit', (length, handedOn) => {
  const splitter = new LineSplitter();
  expect(splitter.push(bytesOf('x'.repeat(length))).map((line) => line.length)).toEqual(handedOn);
});
