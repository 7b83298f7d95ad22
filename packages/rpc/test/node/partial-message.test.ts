import { expect, it } from 'vitest';
import { PartialMessage } from '../../src/node/partial-message.js';

const MOST_BYTES = 1024 * 1024;
const LARGE_BYTES = 100_000;

it('grows with what has come, by doubling, up to the longest message', () => {
  const partial = new PartialMessage();
  const capacities = [1, 4095, 1, 8192, MOST_BYTES].map((bytes) => {
    partial.append(Buffer.alloc(Math.min(bytes, MOST_BYTES - partial.length)), MOST_BYTES);
    return partial.capacity;
  });
  expect(capacities).toEqual([4096, 4096, 8192, 16_384, MOST_BYTES]);
});

it('copies no more than some mebibytes when it grows, and counts what is filled of the rest', () => {
  const partial = new PartialMessage();
  const mostBytes = 60 * MOST_BYTES;
  const capacities = [0.25, 1.75, 0.5, 1.5, 0.001, 0.999, 3, 0.5].map((mebibytes) => {
    partial.append(Buffer.alloc(Math.ceil(mebibytes * MOST_BYTES)), mostBytes);
    return [partial.capacity, partial.heldBytes].map((bytes) => bytes / MOST_BYTES);
  });
  expect(capacities).toEqual([
    [2, 2],
    [2, 2],
    [4, 4],
    [4, 4],
    [60, 5],
    [60, 6],
    [60, 9],
    [60, 9],
  ]);
});

it('has what was appended, and what was read into its room', () => {
  const partial = new PartialMessage();
  expect(partial.append(Buffer.from('abc'), MOST_BYTES).toString()).toBe('abc');
  const room = partial.makeRoom(3, MOST_BYTES);
  expect(room.length).toBe(3);
  room.write('def');
  expect(partial.extend(2).toString()).toBe('de');
  expect(partial.take().message.toString()).toBe('abcde');
  expect([partial.length, partial.capacity]).toEqual([0, 0]);
});

it('has its memory be used again once what was taken is released', () => {
  const partial = new PartialMessage();
  partial.append(Buffer.alloc(LARGE_BYTES), LARGE_BYTES);
  const { message, release } = partial.take();
  partial.append(Buffer.alloc(LARGE_BYTES), LARGE_BYTES);
  expect(partial.take().message.buffer).not.toBe(message.buffer);
  release();
  partial.append(Buffer.alloc(LARGE_BYTES), LARGE_BYTES);
  expect(partial.take().message.buffer).toBe(message.buffer);
});

it('has retired memory be used again once it is released', () => {
  const partial = new PartialMessage();
  const { buffer } = partial.append(Buffer.alloc(LARGE_BYTES), LARGE_BYTES);
  partial.retire();
  expect([partial.length, partial.capacity, partial.hasRetired]).toEqual([0, 0, true]);
  expect(partial.append(Buffer.alloc(LARGE_BYTES), LARGE_BYTES).buffer).not.toBe(buffer);
  partial.take();
  partial.releaseRetired();
  expect(partial.hasRetired).toBe(false);
  expect(partial.append(Buffer.alloc(LARGE_BYTES), LARGE_BYTES).buffer).toBe(buffer);
});
