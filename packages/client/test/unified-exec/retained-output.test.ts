import { describe, expect, test } from 'vitest';
import { MAX_RETAINED_BYTES } from '../../src/unified-exec/limits.js';
import { createRetainedOutput, retainedText } from '../../src/unified-exec/retained-output.js';

function keep(bytes: number, maxBytes?: number) {
  const buffer = createRetainedOutput(maxBytes);
  buffer.append(new Uint8Array(bytes).fill(0x61));
  return buffer.collect();
}

describe('limit', () => {
  test.each([
    [MAX_RETAINED_BYTES - 1, 0],
    [MAX_RETAINED_BYTES, 0],
    [MAX_RETAINED_BYTES + 1, 1],
    [3_000_000, 1_951_424],
  ])('of %i bytes %i are dropped', (bytes, dropped) => {
    expect(keep(bytes).droppedBytes).toBe(dropped);
  });

  test('half is head; of an odd limit the tail has the odd byte', () => {
    const { head, tail } = keep(100, 5);
    expect([head.length, tail.length]).toEqual([2, 3]);
  });
});

test('a line of its own stands where bytes are missing', () => {
  expect(retainedText(keep(10, 10))).toBe('a'.repeat(10));
  expect(retainedText(keep(11, 10))).toBe('aaaaa\n... 1 bytes omitted ...\naaaaa');
});
