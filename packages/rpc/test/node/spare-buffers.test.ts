import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SpareBuffers } from '../../src/node/spare-buffers.js';

const KIB = 1024;
const MIN_SPARE_BYTES = 64 * KIB;
const MAX_SPARE_BYTES = 4 * KIB * KIB;

/** Whether memory of `given` bytes that was given back serves for `wanted`. */
function isReused(given: number, wanted: number): boolean {
  const spares = new SpareBuffers();
  const first = spares.take(given);
  spares.give(first);
  const second = spares.take(wanted);
  expect(second.length).toBe(wanted);
  return second.buffer === first.buffer;
}

describe('memory that was given back', () => {
  it.each([
    [MIN_SPARE_BYTES - 1, false],
    [MIN_SPARE_BYTES, true],
    [MIN_SPARE_BYTES + 1, true],
    [MAX_SPARE_BYTES, true],
    [MAX_SPARE_BYTES + 1, false],
  ])('of %i bytes is kept: %s', (bytes, isKept) => {
    expect(isReused(bytes, bytes)).toBe(isKept);
  });

  it.each([
    [200 * KIB + 1, false],
    [200 * KIB, true],
    [100 * KIB, true],
    [100 * KIB - 1, false],
  ])('of 200 KiB serves for %i bytes: %s', (wanted, serves) => {
    expect(isReused(200 * KIB, wanted)).toBe(serves);
  });

  it.each([
    [4 * KIB, true],
    [4 * KIB + 1, false],
  ])('of 96 KiB and 1 byte serves for 96 KiB and %i bytes: %s', (more, serves) => {
    expect(isReused(96 * KIB + 1, 96 * KIB + more)).toBe(serves);
  });

  it('makes room for what is given later: sizes change', () => {
    const spares = new SpareBuffers();
    const large = Array.from({ length: 4 }, () => spares.take(MAX_SPARE_BYTES / 4));
    for (const buffer of large) spares.give(buffer);
    const small = spares.take(MIN_SPARE_BYTES);
    spares.give(small);
    expect(spares.take(MIN_SPARE_BYTES).buffer).toBe(small.buffer);
    const again = large.map(({ length }) => spares.take(length).buffer);
    const places = again.map((memory) => large.findIndex(({ buffer }) => buffer === memory));
    expect(places).toEqual([1, 2, 3, -1]);
  });

  it('serves one at a time', () => {
    const spares = new SpareBuffers();
    const first = spares.take(MIN_SPARE_BYTES);
    spares.give(first);
    const [second, third] = [spares.take(MIN_SPARE_BYTES), spares.take(MIN_SPARE_BYTES)];
    expect(second.buffer).toBe(first.buffer);
    expect(third.buffer).not.toBe(first.buffer);
  });

  it('is kept up to 4 MiB in all, also after some was used', () => {
    const spares = new SpareBuffers();
    const all = Array.from({ length: 5 }, () => spares.take(MAX_SPARE_BYTES / 4));
    for (const buffer of all) spares.give(buffer);
    const known = new Set(all.map(({ buffer }) => buffer));
    const again = Array.from({ length: 5 }, () => spares.take(MAX_SPARE_BYTES / 4));
    expect(again.filter(({ buffer }) => known.has(buffer))).toHaveLength(4);
    for (const buffer of again) spares.give(buffer);
    expect(spares.take(MAX_SPARE_BYTES / 4).buffer).toBe(again[1]?.buffer);
  });
});

describe('what is more than is kept', () => {
  it.each([
    [1024 * KIB - 1, false],
    [1024 * KIB, true],
    [1024 * KIB + 1, true],
  ])('of %i bytes is freed at once: %s', async (bytes, isFreed) => {
    const spares = new SpareBuffers();
    // Whole pages, and less than what a larger one could serve for.
    const given = spares.take(bytes - (bytes % 4096));
    const others = Array.from({ length: 4 }, () => spares.take(1024 * KIB));
    spares.give(given);
    for (const other of others) spares.give(other);
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    expect(given.length === 0).toBe(isFreed);
    expect(others.map(({ length }) => length)).toEqual(others.map(() => 1024 * KIB));
  });
});

describe('what is given', () => {
  /** Whether anything that was given serves for what is asked for next. */
  function serves(spares: SpareBuffers, given: Uint8Array<ArrayBuffer>): boolean {
    return spares.take(given.buffer.byteLength).buffer === given.buffer;
  }

  it.each([64 * KIB, 256 * KIB, 1024 * KIB])(
    'is left alone when Node has cut it out of %i bytes that it shares among buffers',
    (poolBytes) => {
      const usual = Buffer.poolSize;
      onTestFinished(() => {
        Buffer.poolSize = usual;
      });
      Buffer.poolSize = poolBytes;
      const spares = new SpareBuffers();
      // What is left of the memory that was shared before is used up first.
      const small = Array.from({ length: 100 }, () => spares.take(20_000)).at(-1)!;
      // Node 26 adds some bytes for alignment.
      expect(small.buffer.byteLength).toBeGreaterThanOrEqual(poolBytes);
      spares.give(small);
      expect(serves(spares, small)).toBe(false);
    },
  );

  it.each<[string, (spares: SpareBuffers) => Buffer<ArrayBuffer>]>([
    ['memory of somebody else', () => Buffer.allocUnsafeSlow(MIN_SPARE_BYTES)],
    ['what others took from spares of their own', () => new SpareBuffers().take(MIN_SPARE_BYTES)],
    ['a part of what was taken', (spares) => spares.take(MIN_SPARE_BYTES).subarray(0, MIN_SPARE_BYTES - 1)],
    [
      'another view of what was taken',
      (spares) => Buffer.from(spares.take(MIN_SPARE_BYTES).buffer, 0, MIN_SPARE_BYTES),
    ],
  ])('is left alone when it is %s', (_what, make) => {
    const spares = new SpareBuffers();
    const given = make(spares);
    spares.give(given);
    expect(serves(spares, given)).toBe(false);
  });

  it('serves once, however often it is given', () => {
    const spares = new SpareBuffers();
    const first = spares.take(MIN_SPARE_BYTES);
    spares.give(first);
    spares.give(first);
    const second = spares.take(MIN_SPARE_BYTES);
    expect(second.buffer).toBe(first.buffer);
    // Given again by who had it before, while somebody else has it.
    spares.give(first);
    expect(spares.take(MIN_SPARE_BYTES).buffer).not.toBe(first.buffer);
    spares.give(second);
    expect(spares.take(MIN_SPARE_BYTES).buffer).toBe(first.buffer);
  });
});
