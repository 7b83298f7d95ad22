import { describe, expect, it } from 'vitest';
import type { InputTarget } from '../../src/native/launch.js';
import { StdinGoneError, StdinQueue } from '../../src/stdin/stdin-queue.js';

/** A child's stdin whose reader reads when the test says so. */
class SlowReader implements InputTarget {
  readonly taken: string[] = [];
  closed = false;
  #pending: { text: string; resolve: () => void; reject: (error: Error) => void } | undefined;

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending = { text: Buffer.from(bytes).toString(), resolve, reject };
    });
  }

  /** Set for a terminal. */
  mark: Uint8Array | undefined;

  endMark(): Uint8Array | undefined {
    return this.mark;
  }

  close(): void {
    this.closed = true;
    this.breakPipe();
  }

  async read(): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending === undefined) throw new Error('nothing to read');
    this.taken.push(pending.text);
    pending.resolve();
    await settled();
  }

  breakPipe(): void {
    this.#pending?.reject(new Error('Broken pipe (os error 32)'));
    this.#pending = undefined;
  }
}

/** Lets every promise that can settle settle. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;
const bytes = (size: number) => Buffer.alloc(size, 'x');

function open(queueBytes = 10) {
  const reader = new SlowReader();
  return { reader, queue: new StdinQueue(reader, { queueBytes, rememberedWriteIds: 4 }) };
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const mark = Symbol('pending');
  return (await Promise.race([promise, settled().then(() => mark)])) === mark;
}

describe('room', () => {
  it.each([
    [9, false],
    [10, false],
    [11, true],
  ])('a queue of ten bytes that would hold %i makes the last write wait: %s', async (total, waits) => {
    const { queue } = open();
    await queue.write(bytes(5), { signal: never });
    const last = queue.write(bytes(total - 5), { signal: never });
    expect(await isPending(last)).toBe(waits);
  });

  it('an empty queue takes a write of any size', async () => {
    const { queue } = open();
    await queue.write(bytes(1_000), { signal: never });
    expect(queue.queuedBytes).toBe(1_000);
  });

  it('an empty write is accepted and writes nothing', async () => {
    const { queue } = open();
    await queue.write(bytes(0), { signal: never });
    expect(queue.queuedBytes).toBe(0);
  });
});

it('keeps the order of writes, waiting ones included', async () => {
  const { queue, reader } = open(3);
  const writes = ['a', 'bb', 'ccc', 'd'].map((text) => queue.write(Buffer.from(text), { signal: never }));
  expect(queue.waitingWrites).toBe(2);
  for (let index = 0; index < 4; index++) await reader.read();
  await Promise.all(writes);
  expect(reader.taken).toEqual(['a', 'bb', 'ccc', 'd']);
});

describe('write ids', () => {
  it('a repeated id is accepted and not written again', async () => {
    const { queue, reader } = open();
    await queue.write(Buffer.from('once'), { writeId: 'w1', signal: never });
    await queue.write(Buffer.from('twice'), { writeId: 'w1', signal: never });
    await reader.read();
    expect(reader.taken).toEqual(['once']);
    expect(queue.queuedBytes).toBe(0);
  });

  it('a repeat of a write that still waits waits with it', async () => {
    const { queue, reader } = open(1);
    await queue.write(Buffer.from('x'), { signal: never });
    const first = queue.write(Buffer.from('y'), { writeId: 'w', signal: never });
    const again = queue.write(Buffer.from('y'), { writeId: 'w', signal: never });
    await reader.read();
    await Promise.all([first, again]);
    await reader.read();
    expect(reader.taken).toEqual(['x', 'y']);
  });

  it('a write that was taken back leaves its id free', async () => {
    const { queue, reader } = open(1);
    await queue.write(Buffer.from('x'), { signal: never });
    const gone = new AbortController();
    const taken = queue.write(Buffer.from('y'), { writeId: 'w', signal: gone.signal });
    gone.abort(new Error('disconnected'));
    await expect(taken).rejects.toThrow('disconnected');
    const again = queue.write(Buffer.from('y'), { writeId: 'w', signal: never });
    await reader.read();
    await again;
    await reader.read();
    expect(reader.taken).toEqual(['x', 'y']);
  });
});

describe('the end of the input', () => {
  it('closes a pipe behind everything that was written before', async () => {
    const { queue, reader } = open(1);
    const writes = ['a', 'b'].map((text) => queue.write(Buffer.from(text), { signal: never }));
    const end = queue.write(Buffer.from('c'), { end: true, signal: never });
    expect(queue.ended).toBe(true);
    for (let index = 0; index < 3; index++) {
      expect(reader.closed).toBe(false);
      await reader.read();
    }
    await Promise.all([...writes, end]);
    expect([reader.taken, reader.closed]).toEqual([['a', 'b', 'c'], true]);
  });

  it('that was taken back can be made again', async () => {
    const { queue, reader } = open(1);
    await queue.write(Buffer.from('a'), { signal: never });
    const gone = new AbortController();
    const lost = queue.write(Buffer.from('b'), { writeId: 'w', end: true, signal: gone.signal });
    gone.abort(new Error('disconnected'));
    await expect(lost).rejects.toThrow('disconnected');
    expect(queue.ended).toBe(false);
    const again = queue.write(Buffer.from('b'), { writeId: 'w', end: true, signal: never });
    await reader.read();
    await again;
    await reader.read();
    expect([reader.taken, reader.closed]).toEqual([['a', 'b'], true]);
  });

  it('is a character on a terminal, which goes on taking input', async () => {
    const { queue, reader } = open();
    reader.mark = Buffer.of(4);
    await queue.write(Buffer.from('a'), { end: true, signal: never });
    await queue.write(Buffer.from('b'), { signal: never });
    for (let index = 0; index < 3; index++) await reader.read();
    expect([reader.taken, reader.closed, queue.ended]).toEqual([['a', '\x04', 'b'], false, false]);
  });
});

describe('the end', () => {
  it('a child that closed its stdin accepts and drops everything', async () => {
    const { queue, reader } = open(1);
    await queue.write(bytes(1), { signal: never });
    const waiting = queue.write(bytes(1), { signal: never });
    reader.breakPipe();
    await waiting;
    await queue.write(bytes(1_000), { signal: never });
    expect(queue.queuedBytes).toBe(0);
  });

  it('a terminated child fails what waits and what comes later', async () => {
    const { queue, reader } = open(1);
    await queue.write(bytes(1), { signal: never });
    const waiting = queue.write(bytes(1), { signal: never });
    queue.abandon();
    await expect(waiting).rejects.toThrow(StdinGoneError);
    await expect(queue.write(bytes(1), { signal: never })).rejects.toThrow(
      'failed to write to process stdin',
    );
    expect(reader.closed).toBe(true);
  });

  it('release closes the descriptor and goes on accepting', async () => {
    const { queue, reader } = open();
    queue.release();
    await queue.write(bytes(1), { signal: never });
    expect(reader.closed).toBe(true);
  });
});
