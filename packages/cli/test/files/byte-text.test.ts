import { expect, it } from 'vitest';
import { toByteText } from '../../src/files/byte-text.js';

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [1024 ** 2 - 1, '1.0 MiB'],
  [1024 ** 2, '1.0 MiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
  [5000 * 1024 ** 4, '5000.0 TiB'],
])('%d bytes: %s', (bytes, text) => {
  expect(toByteText(bytes)).toBe(text);
});
