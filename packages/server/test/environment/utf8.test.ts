import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeInvalidUtf8 } from '../../src/environment/utf8.js';

describe('invalid UTF-8', () => {
  it.each([
    [[0x61, 0xff], 'invalid utf-8 sequence of 1 bytes from index 1'],
    [[0x80], 'invalid utf-8 sequence of 1 bytes from index 0'],
    [[0xc0, 0x80], 'invalid utf-8 sequence of 1 bytes from index 0'],
    [[0xe2, 0x82, 0x61], 'invalid utf-8 sequence of 2 bytes from index 0'],
    [[0xed, 0xa0, 0x80], 'invalid utf-8 sequence of 1 bytes from index 0'],
    [[0xf4, 0x90, 0x80, 0x80], 'invalid utf-8 sequence of 1 bytes from index 0'],
    [[0xf0, 0x9f, 0x98, 0x21], 'invalid utf-8 sequence of 3 bytes from index 0'],
    [[0x61, 0xe2, 0x82], 'incomplete utf-8 byte sequence from index 1'],
    [[0xf0], 'incomplete utf-8 byte sequence from index 0'],
  ])('%j', (bytes, text) => {
    expect(describeInvalidUtf8(Buffer.from(bytes))).toBe(text);
  });

  it('finds nothing in text, and something wherever the decoder does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const decodes = Buffer.from(bytes).equals(Buffer.from(Buffer.from(bytes).toString()));
        expect(describeInvalidUtf8(Buffer.from(bytes)) === undefined).toBe(decodes);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(describeInvalidUtf8(Buffer.from(text))).toBeUndefined();
      }),
    );
  });
});
