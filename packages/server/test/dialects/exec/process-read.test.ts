import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import {
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../../support/session.js';

const open = () => openSession(openServer());

it('replays everything, with and without a cursor', async () => {
  const wire = await open();
  await wire.request('process/start', shellParams('p', 'echo x; exit 4'));
  await untilClosed(wire, 'p');
  const whole = {
    nextSeq: 4,
    exited: true,
    exitCode: 4,
    closed: true,
    failure: null,
    sandboxDenied: false,
    timedOut: false,
  };
  const chunks = [{ seq: 1, stream: 'stdout', chunk: 'eAo=' }];
  expect((await wire.request('process/read', { processId: 'p' })).result).toEqual({ chunks, ...whole });
  expect((await wire.request('process/read', { processId: 'p', afterSeq: 1 })).result).toEqual({
    chunks: [],
    ...whole,
  });
  expect((await wire.request('process/read', { processId: 'p', afterSeq: 99 })).result).toEqual({
    chunks: [],
    ...whole,
  });
});

it('a bounded read keeps its cursor at what it returned', async () => {
  const wire = await open();
  const params = startParams('p', ['/bin/cat'], { pipeStdin: true });
  await wire.request('process/start', params);
  for (const text of ['abc', 'defg']) {
    await wire.request('process/write', { processId: 'p', chunk: btoa(text), writeId: text });
    await untilPrinted(wire, 'p', text);
  }
  await wire.request('process/terminate', { processId: 'p' });
  await untilClosed(wire, 'p');
  const read = async (cursor: object) => {
    const { result } = await wire.request('process/read', { processId: 'p', ...cursor });
    const { chunks, nextSeq } = result as { chunks: { seq: number }[]; nextSeq: number };
    return { seqs: chunks.map(({ seq }) => seq), nextSeq };
  };
  expect(await read({ maxBytes: 0 })).toEqual({ seqs: [1], nextSeq: 2 });
  expect(await read({ maxBytes: 6 })).toEqual({ seqs: [1], nextSeq: 2 });
  expect(await read({ maxBytes: 7 })).toEqual({ seqs: [1, 2], nextSeq: 3 });
  expect(await read({ maxBytes: 7, afterSeq: 2 })).toEqual({ seqs: [], nextSeq: 5 });
  expect(await read({})).toEqual({ seqs: [1, 2], nextSeq: 5 });
});

describe('long polls', () => {
  it('end with output, then with the exit', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/cat'], { pipeStdin: true }));
    const first = wire.request('process/read', { processId: 'p', waitMs: 1e15 });
    await wire.request('process/write', { processId: 'p', chunk: 'eAo=', writeId: '1' });
    expect((await first).result).toMatchObject({
      chunks: [{ seq: 1 }],
      nextSeq: 2,
      exited: false,
      exitCode: null,
    });
    const second = wire.request('process/read', { processId: 'p', afterSeq: 1, waitMs: 1e15 });
    await wire.request('process/terminate', { processId: 'p' });
    expect((await second).result).toMatchObject({ chunks: [], exited: true, exitCode: 137 });
  });

  it('end when their time is up, to the millisecond', async () => {
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
    let answered = false;
    const read = wire.request('process/read', { processId: 'p', waitMs: 700 }).then((message) => {
      answered = true;
      return message;
    });
    await wire.request('environment/status');
    clock.advance(699);
    await wire.request('environment/status');
    expect(answered).toBe(false);
    clock.advance(1);
    expect((await read).result).toEqual({
      chunks: [],
      nextSeq: 1,
      exited: false,
      exitCode: null,
      closed: false,
      failure: null,
      sandboxDenied: false,
    });
  });

  it('delay nothing else, not even a thousand of them', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
    const polls = Array.from({ length: 1_000 }, () =>
      wire.request('process/read', { processId: 'p', waitMs: 1e15 }),
    );
    await wire.request('process/start', shellParams('q', 'echo quick'));
    expect((await untilClosed(wire, 'q')).stdout.toString()).toBe('quick\n');
    await wire.request('process/terminate', { processId: 'p' });
    for (const { result } of await Promise.all(polls)) expect(result).toMatchObject({ exitCode: 137 });
  });
});

describe('retention', () => {
  it('evicts the oldest; the gap shows in the numbers', async () => {
    const wire = await openSession(openServer({ retainedOutputBytes: 8 }));
    await wire.request('process/start', startParams('p', ['/bin/cat'], { pipeStdin: true }));
    for (const text of ['aaaa', 'bbbb', 'cccc']) {
      await wire.request('process/write', { processId: 'p', chunk: btoa(text), writeId: text });
      await untilPrinted(wire, 'p', text);
    }
    const { result } = await wire.request('process/read', { processId: 'p' });
    // Eight bytes are kept in pieces of one.
    const seqs = [5, 6, 7, 8, 9, 10, 11, 12];
    expect(result).toMatchObject({ chunks: seqs.map((seq) => ({ seq })), nextSeq: 13 });
  });

  it('of a process can be lower than the server’s, not higher', async () => {
    const wire = await openSession(openServer({ retainedOutputBytes: 8 }));
    for (const [processId, outputBytesCap, kept] of [
      ['low', 4, 4],
      ['high', 100, 8],
    ] as const) {
      await wire.request(
        'process/start',
        startParams(processId, ['/bin/cat'], { pipeStdin: true, outputBytesCap }),
      );
      for (const text of ['aaaa', 'bbbb', 'cccc']) {
        await wire.request('process/write', { processId, chunk: btoa(text), writeId: text });
        await untilPrinted(wire, processId, text);
      }
      expect((await wire.request('process/read', { processId })).result?.chunks).toHaveLength(kept);
    }
  });

  it('forgets a process 30 s after it closed, and frees its id', async () => {
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    await wire.request('process/start', shellParams('p', 'true'));
    await untilClosed(wire, 'p');
    clock.advance(29_999);
    expect((await wire.request('process/read', { processId: 'p' })).result).toBeDefined();
    clock.advance(1);
    expect((await wire.request('process/read', { processId: 'p' })).error).toMatchObject({
      code: -32600,
      message: 'unknown process id p',
      data: { code: 'process_expired' },
    });
    expect((await wire.request('process/start', shellParams('p', 'true'))).result).toBeDefined();
  });

  it('keeps a process that exited while somebody holds its pipe', async () => {
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    await wire.request('process/start', shellParams('p', 'sleep 60 & echo $!'));
    const { params } = await wire.next(({ method }) => method === 'process/exited', 'the exit');
    expect(params).toMatchObject({ processId: 'p', exitCode: 0 });
    clock.advance(3_600_000);
    expect((await wire.request('process/read', { processId: 'p' })).result).toMatchObject({
      exited: true,
      closed: false,
    });
  });
});

it('an id that nobody knows is an error', async () => {
  const wire = await open();
  expect((await wire.request('process/read', { processId: 'x' })).error).toMatchObject({
    code: -32600,
    message: 'unknown process id x',
  });
});
