import { expect, it } from 'vitest';
import { StreamBeginnings } from '../../src/output/stream-beginnings.js';

it.each([
  [9, 'abcdefghi'],
  [10, 'abcdefghij'],
  [11, 'abcdefghij'],
])('of %i bytes the first ten are kept, of each stream', (length, kept) => {
  const beginnings = new StreamBeginnings(10);
  const text = 'abcdefghijk'.slice(0, length);
  for (const byte of text) beginnings.append('stdout', Buffer.from(byte));
  beginnings.append('stderr', Buffer.from(text));
  expect(beginnings.of('stdout').toString()).toBe(kept);
  expect(beginnings.of('stderr').toString()).toBe(kept);
  expect(beginnings.of('pty').length).toBe(0);
  expect(beginnings.bytes).toBe(2 * kept.length);
});
