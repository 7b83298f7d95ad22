import { beforeEach, describe, expect, test } from 'vitest';
import { KeepAlive, type KeepAliveOptions, type WatchedConnection } from '../src/keep-alive.js';
import { ManualClock } from './support/manual-clock.js';

const INTERVAL_MS = 4_000;

/** A connection whose server says something only when a test has it. */
class Connection implements WatchedConnection {
  activity = 0;
  isPaused = false;
  unansweredCalls = 0;
  answersAtOnce = true;
  questions = 0;
  dropped: string | undefined;
  readonly ping?: () => void;
  answer: () => void = () => {};

  constructor({ pings }: { readonly pings: boolean }) {
    if (pings)
      this.ping = () => {
        this.questions++;
      };
  }

  measureActivity(): number {
    return this.activity;
  }

  ask(): Promise<unknown> {
    this.questions++;
    this.unansweredCalls++;
    return new Promise<void>((resolve) => {
      this.answer = () => {
        this.unansweredCalls--;
        this.activity++;
        resolve();
      };
    });
  }

  drop(reason: string): void {
    this.dropped = reason;
  }
}

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

function watch(connection: WatchedConnection, options: KeepAliveOptions = {}): KeepAlive {
  return new KeepAlive(connection, options, clock);
}

function passIntervals(count: number): void {
  clock.advance(count * INTERVAL_MS);
}

describe.each([{ pings: true }, { pings: false }])('a silent server (ping frames: $pings)', ({ pings }) => {
  test('is asked after one interval, and given up after two more', () => {
    const connection = new Connection({ pings });
    watch(connection);
    clock.advance(INTERVAL_MS - 1);
    expect(connection.questions).toBe(0);
    clock.advance(1);
    expect(connection.questions).toBe(1);
    clock.advance(2 * INTERVAL_MS - 1);
    expect(connection.dropped).toBeUndefined();
    clock.advance(1);
    expect(connection.dropped).toBe(
      'no byte came from the server for 12 seconds, although it was asked for a sign of life',
    );
  });

  test('lives with every byte, whatever it belongs to', () => {
    const connection = new Connection({ pings });
    watch(connection);
    for (let i = 0; i < 20; i++) {
      connection.activity++;
      passIntervals(1);
    }
    expect(connection).toMatchObject({ questions: 0, dropped: undefined });
  });

  test('whose last byte came just after a look is given up within 20 seconds', () => {
    const connection = new Connection({ pings });
    watch(connection);
    connection.activity++;
    clock.advance(20_000);
    expect(connection.dropped).toBeDefined();
  });

  test('is not judged while this side does not read, and has all its time afterwards', () => {
    const connection = new Connection({ pings });
    watch(connection);
    passIntervals(2);
    connection.isPaused = true;
    passIntervals(10);
    connection.isPaused = false;
    passIntervals(2);
    expect(connection.dropped).toBeUndefined();
    passIntervals(1);
    expect(connection.dropped).toBeDefined();
  });

  test('is asked no more once the watch has stopped', () => {
    const connection = new Connection({ pings });
    watch(connection).stop();
    passIntervals(10);
    expect(connection).toMatchObject({ questions: 0, dropped: undefined });
  });
});

test.each([1, 2, 3])('with %i questions allowed, the next look without a sign is the last', (allowed) => {
  const connection = new Connection({ pings: true });
  watch(connection, { pingIntervalMs: INTERVAL_MS, maxUnansweredPings: allowed });
  passIntervals(allowed);
  expect(connection).toMatchObject({ questions: allowed, dropped: undefined });
  passIntervals(1);
  expect(connection).toMatchObject({ questions: allowed, dropped: expect.any(String) });
});

test('time that passed unseen counts once, so that what came meanwhile is read before anything is decided', () => {
  const connection = new Connection({ pings: true });
  let look = () => {};
  const sleeping = {
    now: () => 0,
    after: (_ms: number, task: () => void) => {
      look = task;
      return { cancel() {} };
    },
  };
  new KeepAlive(connection, {}, sleeping);
  // Hours may lie between these; each is one look.
  look();
  look();
  expect(connection.dropped).toBeUndefined();
  connection.activity++;
  look();
  expect(connection.dropped).toBeUndefined();
});

describe('with requests', () => {
  test('one question is on its way at a time', async () => {
    const connection = new Connection({ pings: false });
    watch(connection);
    passIntervals(2);
    expect(connection.questions).toBe(1);
    connection.answer();
    await Promise.resolve();
    passIntervals(2);
    expect(connection).toMatchObject({ questions: 2, dropped: undefined });
  });

  test('a server that handles one call after the other is not asked while it is at another', () => {
    const connection = new Connection({ pings: false });
    connection.answersAtOnce = false;
    connection.unansweredCalls = 1;
    watch(connection);
    passIntervals(20);
    expect(connection).toMatchObject({ questions: 0, dropped: undefined });
    connection.unansweredCalls = 0;
    passIntervals(3);
    expect(connection).toMatchObject({ questions: 1, dropped: expect.any(String) });
  });

  test('calls behind the question do not excuse such a server', () => {
    const connection = new Connection({ pings: false });
    connection.answersAtOnce = false;
    watch(connection);
    passIntervals(1);
    connection.unansweredCalls = 50;
    passIntervals(2);
    expect(connection.dropped).toBeDefined();
  });

  test('a server that answers at once is asked past everything', () => {
    const connection = new Connection({ pings: false });
    connection.unansweredCalls = 1_000;
    watch(connection);
    passIntervals(3);
    expect(connection).toMatchObject({ questions: 1, dropped: expect.any(String) });
  });
});

describe('with ping frames', () => {
  test.each([
    { calls: 99, dropped: true },
    { calls: 100, dropped: false },
    { calls: 101, dropped: false },
  ])(
    '$calls calls on their way to a server that handles one after the other: dropped is $dropped',
    ({ calls, dropped }) => {
      const connection = new Connection({ pings: true });
      connection.answersAtOnce = false;
      connection.unansweredCalls = calls;
      watch(connection);
      passIntervals(20);
      expect(connection.dropped !== undefined).toBe(dropped);
    },
  );
});
