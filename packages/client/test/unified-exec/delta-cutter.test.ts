import { describe, expect, test } from 'vitest';
import { DeltaCutter } from '../../src/unified-exec/delta-cutter.js';
import { MAX_DELTA_BYTES, MAX_DELTAS } from '../../src/unified-exec/limits.js';

const cut = (text: string) => new DeltaCutter().cut(new TextEncoder().encode(text));

describe('length', () => {
  test.each([
    [0, []],
    [MAX_DELTA_BYTES - 1, [MAX_DELTA_BYTES - 1]],
    [MAX_DELTA_BYTES, [MAX_DELTA_BYTES]],
    [MAX_DELTA_BYTES + 1, [MAX_DELTA_BYTES, 1]],
  ])('%i bytes', (bytes, lengths) => {
    expect(cut('a'.repeat(bytes)).map((text) => text.length)).toEqual(lengths);
  });
});

test('no character is cut', () => {
  const text = `a${'€'.repeat(MAX_DELTA_BYTES / 2)}`;
  const deltas = cut(text);
  expect(deltas.join('')).toBe(text);
  expect(deltas.map((delta) => new TextEncoder().encode(delta).length)).toEqual([8191, 4098]);
});

test('the beginning of a character that has no end', () => {
  expect(new DeltaCutter().cut(Uint8Array.of(0x61, 0xe2, 0x82))).toEqual(['a', '�']);
});

describe('count', () => {
  test.each([
    [MAX_DELTAS - 1, MAX_DELTAS - 1],
    [MAX_DELTAS, MAX_DELTAS],
    [MAX_DELTAS + 1, MAX_DELTAS],
  ])('of %i pieces %i are told', (pieces, told) => {
    const cutter = new DeltaCutter();
    const piece = Uint8Array.of(0x61);
    let count = 0;
    for (let index = 0; index < pieces; index++) count += cutter.cut(piece).length;
    expect(count).toBe(told);
  });
});
