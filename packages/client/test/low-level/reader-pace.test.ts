import { describe, expect, test } from 'vitest';
import { EventHistory } from '../../src/low-level/event-history.js';
import { EventIterator, type EventSource } from '../../src/low-level/event-iterator.js';
import {
  HOLD_BYTES,
  HOLD_EVENTS,
  MAX_BACKLOG_FACTOR,
  ReaderPace,
  STUCK_MS,
} from '../../src/low-level/reader-pace.js';
import { ManualClock } from '../support/manual-clock.js';

const PIECE = new Uint8Array(64 * 1024);
const PIECES = HOLD_BYTES / PIECE.length;

/** A process without a server: what would be told to that is in `told`. */
function createReaders({ canHold = true, fails = false } = {}) {
  const clock = new ManualClock();
  const history = new EventHistory(0);
  const iterators = new Set<EventIterator>();
  const told: boolean[] = [];
  const state = { hasExited: false };
  const pace = new ReaderPace({
    clock,
    history,
    iterators,
    target: { processId: 'p' },
    supports: () => Promise.resolve(canHold),
    call: (_method, params) => {
      if (fails) return Promise.reject(new Error('not today'));
      told.push((params as { held: boolean }).held);
      return Promise.resolve({} as never);
    },
    hasExited: () => state.hasExited,
  });
  const source: EventSource = {
    knownSeq: 0,
    history,
    failure: undefined,
    isOver: false,
    readOlder: () => Promise.resolve([]),
    moved: () => pace.update(),
    stopped: (iterator) => {
      iterators.delete(iterator);
      pace.update();
    },
  };
  const read = (holdsBack = true) => {
    const iterator = new EventIterator(source, { afterSeq: 0, signal: undefined, holdsBack });
    iterators.add(iterator);
    return iterator;
  };
  const write = (count: number, data = PIECE) => {
    for (let left = count; left > 0; left--) {
      history.append({ type: 'output', seq: history.lastSeq + 1, stream: 'stdout', data });
      pace.update();
      for (const iterator of iterators) iterator.wake();
    }
  };
  const take = async (iterator: EventIterator, count: number) => {
    for (let left = count; left > 0; left--) await iterator.next();
  };
  /** Once everything that was asked for is told. */
  const settled = () => new Promise<void>((resolve) => void setTimeout(resolve, 0));
  return { clock, history, pace, read, write, take, told, state, settled };
}

describe('a process is held back', () => {
  test.each([
    ['bytes', PIECES, PIECE],
    ['events', HOLD_EVENTS, new Uint8Array(1)],
  ])('beyond the limit of %s, and let go on at half of it', async (_, limit, data) => {
    const { read, write, take, told, settled } = createReaders();
    const reader = read();
    write(1);
    await take(reader, 1);
    write(limit, data);
    await settled();
    expect(told).toEqual([]);
    write(1, data);
    await settled();
    expect(told).toEqual([true]);
    await take(reader, limit / 2);
    await settled();
    expect(told).toEqual([true]);
    await take(reader, 1);
    await settled();
    expect(told).toEqual([true, false]);
  });

  test('for the slowest, and for nobody who is gone, has not begun or may lag', async () => {
    const { read, write, take, told, settled } = createReaders();
    const [fast, slow] = [read(), read()];
    read();
    const lagging = read(false);
    write(1);
    await Promise.all([take(fast, 1), take(slow, 1), take(lagging, 1)]);
    write(PIECES + 1);
    await take(fast, PIECES + 1);
    await settled();
    expect(told).toEqual([true]);
    await slow.return();
    await settled();
    expect(told).toEqual([true, false]);
  });

  test('not once it has stopped, or the server cannot or will not', async () => {
    for (const options of [{ canHold: false }, { fails: true }, {}]) {
      const { read, write, take, told, pace, settled, history } = createReaders(options);
      const reader = read();
      write(1);
      await take(reader, 1);
      if (Object.keys(options).length === 0) pace.stop();
      write(PIECES * 2);
      await settled();
      expect(told).toEqual([]);
      // What cannot be waited for is not kept either.
      expect(pace.neededAfter < history.lastSeq).toBe(Object.keys(options).length === 0);
    }
  });

  test('when it is to end, or has ended, only for a reader that is far behind', async () => {
    for (const end of ['letRun', 'exit'] as const) {
      const { read, write, take, told, pace, state, settled } = createReaders();
      const reader = read();
      write(1);
      await take(reader, 1);
      if (end === 'exit') state.hasExited = true;
      else pace.letRun();
      write(PIECES * MAX_BACKLOG_FACTOR);
      await settled();
      expect(told).toEqual([]);
      write(1);
      await settled();
      expect(told).toEqual([true]);
    }
  });
});

describe('a reader that takes nothing while another one waits', () => {
  test('gets twice as much to catch up with each time, up to the limit; then it lags', async () => {
    const { clock, read, write, take, told, settled, pace, history } = createReaders();
    const [stuck, waiting] = [read(), read()];
    write(1);
    await take(stuck, 1);
    void take(waiting, Number.POSITIVE_INFINITY);
    for (let factor = 1; factor <= MAX_BACKLOG_FACTOR; factor *= 2) {
      write(PIECES * factor + 2 - history.lastSeq);
      await settled();
      expect(told.at(-1)).toBe(true);
      expect(pace.neededAfter).toBe(1);
      await clock.elapse(STUCK_MS);
      await settled();
      expect(told.at(-1)).toBe(false);
    }
    expect(pace.neededAfter).toBe(history.lastSeq);
  });

  test('is waited for as long as it takes something', async () => {
    const { clock, read, write, take, told, settled } = createReaders();
    const [slow, waiting] = [read(), read()];
    write(1);
    await take(slow, 1);
    await take(waiting, 1);
    write(PIECES + 1);
    await take(waiting, PIECES + 1);
    void waiting.next();
    for (let step = 0; step < 4; step++) {
      await clock.started(STUCK_MS);
      clock.advance(STUCK_MS - 1);
      await take(slow, 1);
    }
    await settled();
    expect(told).toEqual([true]);
  });

  test('is waited for without end where nobody waits', async () => {
    const { clock, read, write, take, told, settled } = createReaders();
    const reader = read();
    write(1);
    await take(reader, 1);
    write(PIECES + 1);
    clock.advance(STUCK_MS * 100);
    await settled();
    expect(told).toEqual([true]);
  });
});
