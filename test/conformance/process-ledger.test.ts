import { describe, expect, test } from 'vitest';
import { Bindings } from './placeholders.js';
import { compareReads, ProcessLedger, type ReadResult } from './process-ledger.js';

type Event = readonly [
  seq: number,
  kind: 'stdout' | 'stderr' | 'exited' | 'closed',
  content?: string | number,
];

const bindings = new Bindings();
const encode = (text: string) => Buffer.from(text).toString('base64');

function ledger(...events: Event[]): ProcessLedger {
  const made = new ProcessLedger(bindings);
  for (const [seq, kind, content] of events) {
    if (kind === 'exited') {
      made.recordEvent({
        method: 'process/exited',
        params: { seq, exitCode: content, sandboxDenied: false },
      });
    } else if (kind === 'closed') made.recordEvent({ method: 'process/closed', params: { seq } });
    else {
      const params = { seq, stream: kind, chunk: encode(String(content)) };
      made.recordEvent({ method: 'process/output', params });
    }
  }
  return made;
}

const RECORDED: readonly Event[] = [
  [1, 'stderr', 'err\n'],
  [2, 'stdout', 'out\n'],
  [3, 'exited', 3],
  [4, 'closed'],
];

describe('ProcessLedger', () => {
  test.each<[string, Event[]]>([
    ['the same events', [...RECORDED]],
    [
      'streams in another order',
      [
        [1, 'stdout', 'out\n'],
        [2, 'stderr', 'err\n'],
        [3, 'exited', 3],
        [4, 'closed'],
      ],
    ],
    [
      'exit before the last output',
      [
        [1, 'stderr', 'err\n'],
        [2, 'exited', 3],
        [3, 'stdout', 'out\n'],
        [4, 'closed'],
      ],
    ],
    [
      'other chunks',
      [
        [1, 'stderr', 'e'],
        [2, 'stderr', 'rr\n'],
        [3, 'stdout', 'out\n'],
        [4, 'exited', 3],
        [5, 'closed'],
      ],
    ],
    [
      'arrival out of order',
      [
        [2, 'stdout', 'out\n'],
        [1, 'stderr', 'err\n'],
        [4, 'closed'],
        [3, 'exited', 3],
      ],
    ],
  ])('%s is the same run', (_name, events) => {
    const [played, recorded] = [ledger(...events), ledger(...RECORDED)];
    expect(played.covers(recorded)).toBe(true);
    expect(played.compare(recorded)).toEqual([]);
  });

  test.each<[string, Event[]]>([
    ['a lost byte', [[1, 'stderr', 'er\n'], ...RECORDED.slice(1)]],
    ['another code', [...RECORDED.slice(0, 2), [3, 'exited', 0], [4, 'closed']]],
    ['no end', RECORDED.slice(0, 3)],
    ['a gap', [...RECORDED.slice(0, 3), [5, 'closed']]],
    [
      'something after the end',
      [
        [1, 'stderr', 'err\n'],
        [2, 'closed'],
        [3, 'stdout', 'out\n'],
        [4, 'exited', 3],
      ],
    ],
    ['two ends', [...RECORDED, [5, 'closed']]],
    ['two contents of one number', [...RECORDED, [2, 'stdout', 'other']]],
    ['another stream', [[1, 'stdout', 'err\n'], ...RECORDED.slice(1)]],
  ])('%s is a difference', (_name, events) => {
    expect(ledger(...events).compare(ledger(...RECORDED))).not.toEqual([]);
  });

  test('waits for what is recorded and no longer', () => {
    const recorded = ledger([1, 'stdout', 'abc']);
    expect(ledger([1, 'stdout', 'ab']).covers(recorded)).toBe(false);
    expect(ledger([1, 'stdout', 'abc']).covers(recorded)).toBe(true);
    expect(ledger([1, 'stdout', 'abcd']).covers(recorded)).toBe(true);
    expect(ledger([1, 'closed']).covers(recorded)).toBe(true);
    expect(ledger([1, 'stdout', 'abc']).covers(ledger([1, 'exited', 0]))).toBe(false);
  });
});

describe('reads', () => {
  const read = (changes: Partial<ReadResult> = {}): ReadResult => ({
    chunks: [{ seq: 1, stream: 'stdout', chunk: encode('out') }],
    nextSeq: 2,
    exited: false,
    exitCode: null,
    closed: false,
    failure: null,
    sandboxDenied: false,
    ...changes,
  });

  test('fill in what was pushed to nobody', () => {
    const played = ledger([2, 'exited', 0], [3, 'closed']);
    played.recordRead(read({ nextSeq: 4, exited: true, exitCode: 0, closed: true }));
    expect(played.compare(ledger([1, 'stdout', 'out'], [2, 'exited', 0], [3, 'closed']))).toEqual([]);
  });

  test('a cursor that does not fit the events is a difference', () => {
    const played = ledger();
    played.recordRead(read({ nextSeq: 3 }));
    expect(played.compare(ledger([1, 'stdout', 'out']))).toEqual(['read: nextSeq 3 after 1 events']);
  });

  test('are compared by their bytes', () => {
    const split = read({
      chunks: [
        { seq: 1, stream: 'stdout', chunk: encode('o') },
        { seq: 2, stream: 'stdout', chunk: encode('ut') },
      ],
      nextSeq: 3,
    });
    expect(compareReads(read(), split, false, bindings)).toEqual([]);
    expect(compareReads(read(), read({ chunks: [] }), false, bindings)).toHaveLength(1);
    expect(compareReads(read(), read({ exited: true, exitCode: 0 }), false, bindings)).toHaveLength(2);
  });

  test('one that waited may come between exit and close', () => {
    const ended = read({ exited: true, exitCode: 0, closed: true });
    const between = { ...ended, closed: false };
    expect(compareReads(ended, between, true, bindings)).toEqual([]);
    expect(compareReads(ended, between, false, bindings)).toHaveLength(1);
  });
});
