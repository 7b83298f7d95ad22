import { expect, it } from 'vitest';
import { GrowingBuffer } from '../../src/output/growing-buffer.js';

it('is empty at first', () => {
  expect(new GrowingBuffer().bytes).toHaveLength(0);
});

it('holds what was appended, whatever the sizes', () => {
  const pieces = [1, 0, 1023, 1, 4096, 1].map((size, index) => Buffer.alloc(size, index + 1));
  const buffer = new GrowingBuffer();
  for (const piece of pieces) buffer.append(piece);
  expect(buffer.bytes.equals(Buffer.concat(pieces))).toBe(true);
});

it('does not depend on what becomes of the pieces', () => {
  const buffer = new GrowingBuffer();
  const piece = Buffer.from('abc');
  buffer.append(piece);
  piece.fill(0);
  expect(buffer.bytes.toString()).toBe('abc');
});
