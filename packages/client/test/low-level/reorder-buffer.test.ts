import { describe, expect, test } from 'vitest';
import {
  MAX_PENDING_BYTES,
  MAX_PENDING_EVENTS,
  ReorderBuffer,
  ReorderOverflowError,
} from '../../src/low-level/reorder-buffer.js';
import { firstSeqOf, type SequencedEvent } from '../../src/low-level/sequenced-event.js';

const output = (seq: number, bytes = 1): SequencedEvent => ({
  type: 'output',
  seq,
  stream: 'stdout',
  data: new Uint8Array(bytes),
});
const gap = (fromSeq: number, toSeq: number): SequencedEvent => ({ type: 'gap', fromSeq, toSeq });
const seqs = (events: readonly SequencedEvent[]) => events.map(firstSeqOf);

test('events in order pass through', () => {
  const buffer = new ReorderBuffer(0);
  expect([1, 2, 3].flatMap((seq) => seqs(buffer.push(output(seq))))).toEqual([1, 2, 3]);
  expect(buffer.pendingEvents).toBe(0);
});

test('events in any order come out in order', () => {
  const buffer = new ReorderBuffer(0);
  const out = [4, 2, 5, 1, 3].map((seq) => seqs(buffer.push(output(seq))));
  expect(out).toEqual([[], [], [], [1, 2], [3, 4, 5]]);
});

test('starts behind what is known', () => {
  const buffer = new ReorderBuffer(7);
  expect(seqs(buffer.push(output(7)))).toEqual([]);
  expect(seqs(buffer.push(output(8)))).toEqual([8]);
});

test('what comes twice is taken once, published or waiting', () => {
  const buffer = new ReorderBuffer(0);
  buffer.push(output(1));
  expect(buffer.push(output(1))).toEqual([]);
  buffer.push(output(3));
  expect(buffer.push(output(3))).toEqual([]);
  expect(seqs(buffer.push(output(2)))).toEqual([2, 3]);
});

describe('the bound on events', () => {
  const fill = (count: number) => {
    const buffer = new ReorderBuffer(0);
    for (let seq = 2; seq < 2 + count; seq++) buffer.push(output(seq));
    return buffer;
  };

  test.each([MAX_PENDING_EVENTS - 1, MAX_PENDING_EVENTS])('%i wait', (count) => {
    expect(fill(count).pendingEvents).toBe(count);
  });

  test('one more does not', () => {
    expect(() => fill(MAX_PENDING_EVENTS + 1)).toThrow(
      new ReorderOverflowError('process event reorder buffer exceeds 256 entries'),
    );
  });

  test('the event that closes the hole always fits', () => {
    expect(fill(MAX_PENDING_EVENTS).push(output(1))).toHaveLength(MAX_PENDING_EVENTS + 1);
  });
});

describe('the bound on bytes', () => {
  test.each([-1, 0])('1 MiB%i waits', (more) => {
    const buffer = new ReorderBuffer(0);
    buffer.push(output(2, 10));
    buffer.push(output(3, MAX_PENDING_BYTES - 10 + more));
    expect(buffer.pendingEvents).toBe(2);
  });

  test('a byte more does not, but closes a hole', () => {
    const buffer = new ReorderBuffer(0);
    buffer.push(output(2, 10));
    expect(() => buffer.push(output(3, MAX_PENDING_BYTES - 9))).toThrow(
      'process event reorder buffer exceeds 1048576 bytes',
    );
    expect(seqs(buffer.push(output(1, MAX_PENDING_BYTES)))).toEqual([1, 2]);
  });

  test('bytes that came out make room', () => {
    const buffer = new ReorderBuffer(0);
    buffer.push(output(2, MAX_PENDING_BYTES));
    buffer.push(output(1));
    buffer.push(output(4, MAX_PENDING_BYTES));
    expect(buffer.pendingEvents).toBe(1);
  });

  test.each([MAX_PENDING_BYTES - 1, MAX_PENDING_BYTES])('one event of %i bytes is taken', (bytes) => {
    expect(new ReorderBuffer(0).push(output(1, bytes))).toHaveLength(1);
  });

  test('a larger one is not, in order or not', () => {
    for (const seq of [1, 2])
      expect(() => new ReorderBuffer(0).push(output(seq, MAX_PENDING_BYTES + 1))).toThrow(
        'process event exceeds 1048576 bytes',
      );
  });
});

describe('gaps', () => {
  test('stand for all their numbers', () => {
    const buffer = new ReorderBuffer(0);
    buffer.push(output(6));
    expect(buffer.push(gap(1, 5))).toEqual([gap(1, 5), output(6)]);
    expect(buffer.lastSeq).toBe(6);
  });

  test('are cut to what was not published', () => {
    const buffer = new ReorderBuffer(0);
    buffer.push(output(1));
    expect(buffer.push(gap(1, 3))).toEqual([gap(2, 3)]);
    expect(buffer.push(gap(1, 3))).toEqual([]);
  });

  test('wait for what is before them', () => {
    const buffer = new ReorderBuffer(0);
    expect(buffer.push(gap(2, 4))).toEqual([]);
    expect(buffer.push(output(1))).toEqual([output(1), gap(2, 4)]);
  });

  test('swallow what waited within them', () => {
    const buffer = new ReorderBuffer(0);
    buffer.push(output(3));
    expect(buffer.push(gap(1, 4))).toEqual([gap(1, 4)]);
    expect(buffer.pendingEvents).toBe(0);
  });
});

test('tells of what waits, and forgets it', () => {
  const buffer = new ReorderBuffer(0);
  expect(buffer.firstPendingSeq).toBeUndefined();
  buffer.push(output(5));
  buffer.push({
    type: 'exited',
    seq: 4,
    exitCode: 0,
    signal: undefined,
    timedOut: false,
    sandboxDenied: false,
  });
  expect([buffer.firstPendingSeq, buffer.has(4), buffer.has(3), buffer.holdsExit]).toEqual([
    4,
    true,
    false,
    true,
  ]);
  buffer.clear();
  expect([buffer.pendingEvents, buffer.holdsExit]).toEqual([0, false]);
  buffer.push(output(2, MAX_PENDING_BYTES));
});
