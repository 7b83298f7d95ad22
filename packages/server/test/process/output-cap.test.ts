import type { InProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openServer, openSession, shellParams, untilClosed } from '../support/session.js';

/** More than is read at once, so that one piece of it alone exceeds small caps. */
const LONG = 200_000;
const TEXT = Array.from({ length: 40_000 }, (_, index) => index + 1).join(',');

const KINDS = [
  { kind: 'pipes', changes: {} },
  { kind: 'a terminal', changes: { tty: true } },
];

interface Told {
  /** Bytes that were told as they came, and their numbers. */
  readonly live: string;
  readonly liveSeqs: readonly number[];
  /** Bytes that can be read afterwards. */
  readonly kept: string;
  /** Of the snapshot. */
  readonly head: string;
  readonly tail: string;
  readonly droppedBytes: number;
}

/** Runs a program that prints so many bytes, and tells what came of them. */
async function print(wire: InProcessWire, bytes: number, changes: object): Promise<Told> {
  const script = `seq -s , 1 40000 | head -c ${bytes}`;
  await wire.request('process/start', shellParams('p', script, changes));
  const events = await collectUntilClosed(wire);
  const { result: read } = await wire.request('process/read', { processId: 'p', afterSeq: 0 });
  const chunks = read?.chunks as { chunk: string; seq: number }[];
  const { result: snapshot } = await wire.request('process/snapshot', { processId: 'p', screen: false });
  const streams = snapshot?.streams as { stream: string; head: string; tail: string; droppedBytes: number }[];
  const stream = streams.find(({ stream: name }) => name !== 'stderr')!;
  return {
    live: events.map(({ chunk }) => atob(chunk)).join(''),
    liveSeqs: events.map(({ seq }) => seq),
    kept: chunks.map(({ chunk }) => atob(chunk)).join(''),
    head: atob(stream.head),
    tail: atob(stream.tail),
    droppedBytes: stream.droppedBytes,
  };
}

async function collectUntilClosed(wire: InProcessWire): Promise<{ chunk: string; seq: number }[]> {
  const events: { chunk: string; seq: number }[] = [];
  for (;;) {
    const { method, params } = await wire.next(({ method }) => method !== undefined, 'an event');
    if (method === 'process/closed') return events;
    if (method === 'process/output') events.push(params as unknown as { chunk: string; seq: number });
  }
}

describe.each(KINDS)('of what a process on $kind prints', ({ changes }) => {
  it.each([1, 7, 15, 16, 17, 100, 1_000, 8_192, 65_535, 65_536, 65_537])(
    'the newest %i bytes are kept, exact to an eighth',
    async (cap) => {
      const wire = await openSession(openServer());
      const told = await print(wire, LONG, { ...changes, outputBytesCap: cap });
      const text = TEXT.slice(0, LONG);
      expect(told.live).toBe(text);
      expect(told.liveSeqs).toEqual(told.liveSeqs.map((_, index) => index + 1));
      expect(told.kept.length).toBeLessThanOrEqual(cap);
      expect(told.kept.length).toBeGreaterThanOrEqual(cap - Math.floor(cap / 8));
      expect(text.endsWith(told.kept)).toBe(true);
      expect(told.head.length + told.tail.length).toBeLessThanOrEqual(cap);
      expect(told.head.length + told.tail.length + told.droppedBytes).toBe(LONG);
      expect(text.startsWith(told.head)).toBe(true);
      expect(told.tail).toBe(told.kept);
    },
  );

  it.each([
    [999, 999],
    [1_000, 1_000],
    [1_001, 1_000 - 2 * 62],
  ])('of %i bytes with a cap of 1000 at least %i are kept', async (bytes, least) => {
    const wire = await openSession(openServer());
    const { kept, head, tail } = await print(wire, bytes, { ...changes, outputBytesCap: 1_000 });
    expect(TEXT.slice(0, bytes).endsWith(kept)).toBe(true);
    expect(kept.length).toBeGreaterThanOrEqual(least);
    expect(kept.length).toBeLessThanOrEqual(1_000);
    if (bytes <= 1_000) expect(head + tail).toBe(TEXT.slice(0, bytes));
    else expect(head.length + tail.length).toBeLessThanOrEqual(1_000);
  });

  it('as much is kept as the server allows, where that is less', async () => {
    const wire = await openSession(openServer({ retainedOutputBytes: 500 }));
    const { kept } = await print(wire, LONG, { ...changes, outputBytesCap: 1_000 });
    expect(kept.length).toBeLessThanOrEqual(500);
    expect(kept.length).toBeGreaterThanOrEqual(500 - 62);
  });

  it('nothing is kept with a cap of 0', async () => {
    const wire = await openSession(openServer());
    const told = await print(wire, LONG, { ...changes, outputBytesCap: 0 });
    expect(told).toMatchObject({
      live: TEXT.slice(0, LONG),
      kept: '',
      head: '',
      tail: '',
      droppedBytes: LONG,
    });
  });
});

it('a reader that was there for a part sees from the numbers that something went', async () => {
  const wire = await openSession(openServer());
  const script = 'printf 1234; read line; seq -s , 1 40000 | head -c 5000';
  await wire.request('process/start', shellParams('p', script, { outputBytesCap: 100, pipeStdin: true }));
  await wire.next(({ method }) => method === 'process/output', 'the first output');
  await wire.request('process/closeStdin', { processId: 'p' });
  await untilClosed(wire, 'p');
  const { result } = await wire.request('process/read', { processId: 'p', afterSeq: 1 });
  const { chunks } = result as { chunks: { seq: number }[] };
  expect(chunks[0]!.seq).toBeGreaterThan(2);
});
