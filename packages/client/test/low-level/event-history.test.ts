import { describe, expect, test } from 'vitest';
import { EventHistory, MAX_HISTORY_BYTES, MAX_HISTORY_EVENTS } from '../../src/low-level/event-history.js';
import type { SequencedEvent } from '../../src/low-level/sequenced-event.js';

const output = (seq: number, bytes = 1): SequencedEvent => ({
  type: 'output',
  seq,
  stream: 'stdout',
  data: new Uint8Array(bytes),
});

function historyOf(count: number, bytes = 1): EventHistory {
  const history = new EventHistory(0);
  for (let seq = 1; seq <= count; seq++) history.append(output(seq, bytes));
  return history;
}

test('finds the event behind a number', () => {
  const history = historyOf(9);
  history.append({ type: 'gap', fromSeq: 10, toSeq: 20 });
  history.append(output(21));
  expect([history.firstSeq, history.lastSeq]).toEqual([1, 21]);
  expect(history.after(0)).toMatchObject({ seq: 1 });
  expect(history.after(4)).toMatchObject({ seq: 5 });
  expect(history.after(9)).toMatchObject({ fromSeq: 10, toSeq: 20 });
  expect(history.after(15)).toMatchObject({ fromSeq: 10, toSeq: 20 });
  expect(history.after(20)).toMatchObject({ seq: 21 });
  expect(history.after(21)).toBeUndefined();
});

test('an empty one begins behind what is known', () => {
  const history = new EventHistory(7);
  expect([history.firstSeq, history.lastSeq, history.after(7), history.after(3)]).toEqual([
    8,
    7,
    undefined,
    undefined,
  ]);
});

describe('bounds', () => {
  test.each([
    [MAX_HISTORY_EVENTS - 1, 1],
    [MAX_HISTORY_EVENTS, 1],
    [MAX_HISTORY_EVENTS + 1, 2],
  ])('of %i events the oldest kept is %i', (count, firstSeq) => {
    const history = historyOf(count);
    history.trim();
    expect(history.firstSeq).toBe(firstSeq);
  });

  test.each([
    [MAX_HISTORY_BYTES / 4 - 1, 1],
    [MAX_HISTORY_BYTES / 4, 1],
    [MAX_HISTORY_BYTES / 4 + 1, 2],
  ])('of four events of %i bytes the oldest kept is %i', (bytes, firstSeq) => {
    const history = historyOf(4, bytes);
    history.trim();
    expect(history.firstSeq).toBe(firstSeq);
    expect(history.after(0)).toEqual(firstSeq === 1 ? output(1, bytes) : undefined);
  });

  test('give way to somebody who still needs an event', () => {
    const history = historyOf(MAX_HISTORY_EVENTS + 10);
    history.trim(4);
    expect([history.firstSeq, history.isOverfull]).toEqual([5, true]);
    history.trim(10);
    expect([history.firstSeq, history.isOverfull]).toEqual([11, false]);
  });
});
