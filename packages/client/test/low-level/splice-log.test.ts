import type { ProcessReadResult } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { spliceLog } from '../../src/low-level/splice-log.js';
import type { OutputEvent } from '../../src/process-event.js';

const output = (seq: number): OutputEvent => ({
  type: 'output',
  seq,
  stream: 'stdout',
  data: new Uint8Array(),
});
const state = (more: Partial<ProcessReadResult>): ProcessReadResult => ({
  chunks: [],
  nextSeq: 1,
  exited: false,
  exitCode: null,
  closed: false,
  failure: null,
  ...more,
});

/** Splices a log that has output `seqs` and says `more`; returns the events in short. */
function splice(
  seqs: readonly number[],
  more: Partial<ProcessReadResult>,
  { afterSeq = 0, exitIsKnown = false, pushed = [] as readonly number[] } = {},
): string[] {
  const events = spliceLog({
    afterSeq,
    outputs: seqs.map(output),
    throughSeq: (more.nextSeq ?? 1) - 1,
    state: state(more),
    exitIsKnown,
    wasPushed: (seq) => pushed.includes(seq),
  });
  return events.map((event) =>
    event.type === 'gap' ? `gap ${event.fromSeq}-${event.toSeq}` : `${event.type} ${event.seq}`,
  );
}

const EXITED = { exited: true, exitCode: 3 };
const CLOSED = { ...EXITED, closed: true };

test('output alone', () => {
  expect(splice([1, 2], { nextSeq: 3 })).toEqual(['output 1', 'output 2']);
});

test('nothing new', () => {
  expect(splice([], { nextSeq: 5 }, { afterSeq: 4 })).toEqual([]);
});

describe('the exit is the number that is missing', () => {
  test('at the end', () => {
    expect(splice([1, 2], { nextSeq: 4, ...EXITED })).toEqual(['output 1', 'output 2', 'exited 3']);
  });

  test('between output', () => {
    expect(splice([1, 3], { nextSeq: 4, ...EXITED })).toEqual(['output 1', 'exited 2', 'output 3']);
  });

  test('before the close', () => {
    expect(splice([1], { nextSeq: 4, ...CLOSED })).toEqual(['output 1', 'exited 2', 'closed 3']);
  });

  test('of a process without output', () => {
    expect(splice([], { nextSeq: 3, ...CLOSED })).toEqual(['exited 1', 'closed 2']);
  });

  test('with what the log tells about it', () => {
    const [exit] = spliceLog({
      afterSeq: 0,
      outputs: [],
      throughSeq: 1,
      state: state({
        nextSeq: 2,
        exited: true,
        exitCode: 137,
        signal: 'SIGKILL',
        timedOut: true,
        sandboxDenied: true,
      }),
      exitIsKnown: false,
      wasPushed: () => false,
    });
    expect(exit).toEqual({
      type: 'exited',
      seq: 1,
      exitCode: 137,
      signal: 'SIGKILL',
      timedOut: true,
      sandboxDenied: true,
    });
  });
});

describe('what else is missing is no longer retained', () => {
  test('at the beginning', () => {
    expect(splice([4, 5], { nextSeq: 6 })).toEqual(['gap 1-3', 'output 4', 'output 5']);
  });

  test('beside the exit', () => {
    expect(splice([4, 6], { nextSeq: 8, ...CLOSED })).toEqual([
      'gap 1-3',
      'output 4',
      'exited 5',
      'output 6',
      'closed 7',
    ]);
  });

  test('together with the exit, whose place is then unknown', () => {
    expect(splice([4], { nextSeq: 6, ...CLOSED })).toEqual(['gap 1-2', 'exited 3', 'output 4', 'closed 5']);
  });

  test('when the exit is known already', () => {
    expect(splice([4], { nextSeq: 5, ...EXITED }, { afterSeq: 2, exitIsKnown: true })).toEqual([
      'gap 3-3',
      'output 4',
    ]);
  });
});

test('what was pushed is not missing', () => {
  expect(splice([1, 2], { nextSeq: 5, ...EXITED }, { exitIsKnown: true, pushed: [3, 4] })).toEqual([
    'output 1',
    'output 2',
  ]);
});

test('a log that was not read to its end tells no close', () => {
  const events = spliceLog({
    afterSeq: 0,
    outputs: [output(1)],
    throughSeq: 1,
    state: state({ nextSeq: 9, ...CLOSED }),
    exitIsKnown: true,
    wasPushed: () => false,
  });
  expect(events).toEqual([output(1)]);
});
