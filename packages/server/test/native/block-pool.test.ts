import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BlockPool, IDLE_MS, MAX_SPARE_BLOCKS } from '../../src/native/block-pool.js';
import { MAX_CHUNK_BYTES } from '../../src/native/constants.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const takeMany = (pool: BlockPool, count: number) => Array.from({ length: count }, () => pool.take());

it('hands out what was given back, and fresh memory otherwise', () => {
  const pool = new BlockPool();
  const [first, second] = [pool.take(), pool.take()];
  expect([first.length, second.length]).toEqual([MAX_CHUNK_BYTES, MAX_CHUNK_BYTES]);
  expect(second.buffer).not.toBe(first.buffer);
  pool.giveBack(first);
  expect(pool.take().buffer).toBe(first.buffer);
  expect(pool.take().buffer).not.toBe(first.buffer);
});

it('takes nothing that is not its own, whatever its size', () => {
  const pool = new BlockPool();
  pool.giveBack(Buffer.alloc(MAX_CHUNK_BYTES));
  pool.giveBack(new BlockPool().take());
  pool.giveBack(pool.take().subarray(0, 10));
  expect(pool.spareBlocks).toBe(0);
});

it('takes each block once, however often it is given back', () => {
  const pool = new BlockPool();
  const first = pool.take();
  pool.giveBack(first);
  pool.giveBack(first);
  expect(pool.spareBlocks).toBe(1);
  const second = pool.take();
  expect(second.buffer).toBe(first.buffer);
  // Given back again by who had it before, while somebody else has it.
  pool.giveBack(first);
  expect(pool.spareBlocks).toBe(0);
  pool.giveBack(second);
  expect(pool.spareBlocks).toBe(1);
});

it.each([
  [MAX_SPARE_BLOCKS - 1, MAX_SPARE_BLOCKS - 1],
  [MAX_SPARE_BLOCKS, MAX_SPARE_BLOCKS],
  [MAX_SPARE_BLOCKS + 1, MAX_SPARE_BLOCKS],
])('of %i blocks that come back it keeps %i', (count, kept) => {
  const pool = new BlockPool();
  for (const block of takeMany(pool, count)) pool.giveBack(block);
  expect(pool.spareBlocks).toBe(kept);
});

it('keeps its blocks while some are taken, and none once nobody has for a while', () => {
  const pool = new BlockPool();
  for (const block of takeMany(pool, 3)) pool.giveBack(block);
  for (let period = 0; period < 3; period++) {
    vi.advanceTimersByTime(IDLE_MS);
    pool.giveBack(pool.take());
    expect(pool.spareBlocks).toBe(3);
  }
  vi.advanceTimersByTime(2 * IDLE_MS - 1);
  expect(pool.spareBlocks).toBe(3);
  vi.advanceTimersByTime(1);
  expect(pool.spareBlocks).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('works on after a rest', () => {
  const pool = new BlockPool();
  pool.giveBack(pool.take());
  vi.advanceTimersByTime(2 * IDLE_MS);
  pool.giveBack(pool.take());
  expect(pool.spareBlocks).toBe(1);
  vi.advanceTimersByTime(2 * IDLE_MS);
  expect(pool.spareBlocks).toBe(0);
});
