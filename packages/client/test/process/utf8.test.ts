import { describe, expect, it } from 'vitest';
import { completeLength, severedLength } from '../../src/process/utf8.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe.each([
  ['é', 2],
  ['€', 3],
  ['😀', 4],
])('%s, a character of %i bytes', (character, size) => {
  it('is complete only with all of them', () => {
    const bytes = bytesOf(`ab${character}`);
    for (let cut = 1; cut < size; cut++) expect(completeLength(bytes.subarray(0, 2 + cut))).toBe(2);
    expect(completeLength(bytes)).toBe(2 + size);
  });

  it('is severed by as many as are left of it', () => {
    const bytes = bytesOf(`${character}ab`);
    expect(severedLength(bytes)).toBe(0);
    for (let cut = 1; cut < size; cut++) expect(severedLength(bytes.subarray(cut))).toBe(size - cut);
    expect(severedLength(bytes.subarray(size))).toBe(0);
  });
});

it('bytes that are no text are left alone', () => {
  expect(completeLength(Uint8Array.of(0xff, 0xfe))).toBe(2);
  expect(completeLength(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toBe(4);
  expect(completeLength(new Uint8Array(0))).toBe(0);
  expect(severedLength(new Uint8Array(0))).toBe(0);
});
