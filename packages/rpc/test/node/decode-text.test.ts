import { expect, it } from 'vitest';
import { decodeText } from '../../src/node/decode-text.js';

it.each([4095, 4096, 4097])('reads %i bytes of UTF-8, with and without other alphabets', (length) => {
  const ascii = 'x'.repeat(length);
  expect(decodeText(Buffer.from(ascii))).toBe(ascii);
  const mixed = `${'x'.repeat(length - 2)}é`;
  expect(decodeText(Buffer.from(mixed))).toBe(mixed);
});
