import { describe, expect, it } from 'vitest';
import { FrameQueue, type OutboundFrame } from '../../src/node/frame-queue.js';

const MEBIBYTE = 1024 * 1024;
const frame = (bytes: number, data = ''): OutboundFrame => ({ data, bytes, binary: false, fin: true });

/** A socket that sends when the test says so. */
function open() {
  const written: OutboundFrame[] = [];
  const callbacks: (() => void)[] = [];
  let told = 0;
  const queue = new FrameQueue(
    (next, onSent) => {
      written.push(next);
      callbacks.push(onSent);
    },
    () => {
      told++;
    },
  );
  return { queue, written, sendOne: () => callbacks.shift()?.(), told: () => told };
}

describe('what the socket holds', () => {
  it.each([
    [MEBIBYTE - 1, 2],
    [MEBIBYTE, 1],
    [MEBIBYTE + 1, 1],
  ])('with %i bytes inside, %i of two frames are handed over', (bytes, count) => {
    const { queue, written } = open();
    queue.push(frame(bytes));
    queue.push(frame(10));
    expect(written).toHaveLength(count);
    expect(queue.bytes).toBe(bytes + 10);
  });

  it('is filled up as it drains, in order, and each departure is told', () => {
    const { queue, written, sendOne, told } = open();
    for (const name of ['a', 'b', 'c']) queue.push(frame(MEBIBYTE, name));
    sendOne();
    sendOne();
    expect(written.map(({ data }) => data)).toEqual(['a', 'b', 'c']);
    expect(queue.bytes).toBe(MEBIBYTE);
    sendOne();
    expect([queue.bytes, told()]).toEqual([0, 3]);
  });

  it('is everything once nothing more is coming', () => {
    const { queue, written } = open();
    for (let index = 0; index < 5; index++) queue.push(frame(MEBIBYTE));
    queue.flush();
    expect(written).toHaveLength(5);
  });
});
