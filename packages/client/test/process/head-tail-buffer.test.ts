import { describe, expect, it } from 'vitest';
import { HeadTailBuffer } from '../../src/process/head-tail-buffer.js';

/** Bytes 0, 1, 2, … so that a place can be told by its value. */
const counting = (length: number) => Uint8Array.from({ length }, (_, index) => index & 0xff);

function fill(limits: { headBytes: number; tailBytes: number }, total: number, pieceBytes: number) {
  const buffer = new HeadTailBuffer(limits);
  const all = counting(total);
  for (let at = 0; at < total; at += pieceBytes) buffer.append(all.subarray(at, at + pieceBytes));
  return { all, kept: buffer.collect() };
}

describe.each([1, 3, 7, 1000])('in pieces of %i bytes', (pieceBytes) => {
  it.each([
    [0, 0],
    [9, 0],
    [10, 0],
    [29, 0],
    [30, 0],
    [31, 1],
    [500, 470],
  ])('%i bytes into 10 and 20 drop %i', (total, dropped) => {
    const { all, kept } = fill({ headBytes: 10, tailBytes: 20 }, total, pieceBytes);
    expect(kept.droppedBytes).toBe(dropped);
    expect(kept.totalBytes).toBe(total);
    expect([...kept.head]).toEqual([...all.subarray(0, 10)]);
    expect([...kept.tail]).toEqual([...all.subarray(Math.max(10, total - 20))]);
  });

  it('keeps nothing of the part that has no room', () => {
    const onlyHead = fill({ headBytes: 5, tailBytes: 0 }, 12, pieceBytes).kept;
    expect([onlyHead.head.length, onlyHead.tail.length, onlyHead.droppedBytes]).toEqual([5, 0, 7]);
    const onlyTail = fill({ headBytes: 0, tailBytes: 5 }, 12, pieceBytes).kept;
    expect([...onlyTail.tail]).toEqual([7, 8, 9, 10, 11]);
    expect([onlyTail.head.length, onlyTail.droppedBytes]).toEqual([0, 7]);
  });
});

it('grows through its first allocations without losing order', () => {
  const { all, kept } = fill({ headBytes: 100, tailBytes: 20_000 }, 50_000, 333);
  expect(kept.tail).toEqual(all.subarray(30_000));
  expect(kept.droppedBytes).toBe(50_000 - 20_100);
});

it('what was collected does not change with what comes later', () => {
  const buffer = new HeadTailBuffer({ headBytes: 2, tailBytes: 2 });
  buffer.append(counting(4));
  const earlier = buffer.collect();
  buffer.append(counting(9));
  expect([...earlier.bytes()]).toEqual([0, 1, 2, 3]);
});
