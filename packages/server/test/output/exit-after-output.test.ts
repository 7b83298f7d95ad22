import { describe, expect, it } from 'vitest';
import { EXIT_DRAIN_MS, ExitAfterOutput } from '../../src/output/exit-after-output.js';
import { RetainedChunk } from '../../src/output/retained-chunk.js';
import { describeExit } from '../../src/process/process-exit.js';
import { FakeClock } from '../support/fake-clock.js';

const exit = describeExit({ kind: 'exited', code: 3 }, { timedOut: false, sandboxDenied: false });
const chunkOf = (bytes: number) => new RetainedChunk(1, 'stdout', Buffer.alloc(bytes));
const MEBIBYTE = 1024 * 1024;

/** A reader that can fall behind and notes what it is told. */
function open() {
  const clock = new FakeClock();
  const told: unknown[] = [];
  let catchUp = () => {};
  const reader = {
    writable: true,
    whenWritable: () => new Promise<void>((resolve) => (catchUp = resolve)),
    output: ({ data }: { data: Buffer }) => void told.push(data.length),
    ended: (how: unknown, drained: boolean) => void told.push(how, drained),
  };
  const sink = new ExitAfterOutput(reader, clock);
  return {
    clock,
    told,
    reader,
    sink,
    fallBehind: () => {
      reader.writable = false;
    },
    catchUp: async () => {
      reader.writable = true;
      catchUp();
      await Promise.resolve();
    },
  };
}

it('tells the end when the streams are at theirs', () => {
  const { sink, told, clock } = open();
  sink.exited(1, exit);
  sink.output(chunkOf(5));
  expect(told).toEqual([5]);
  sink.closed();
  expect(told).toEqual([5, exit, true]);
  expect(clock.pendingTimers).toBe(0);
});

it('waits no longer than the bound, and tells nothing behind the end', () => {
  const { sink, told, clock } = open();
  sink.exited(1, exit);
  clock.advance(EXIT_DRAIN_MS - 1);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual([exit, false]);
  sink.output(chunkOf(5));
  sink.closed();
  expect(told).toEqual([exit, false]);
});

describe('a reader that is behind', () => {
  it('at the exit has its own time before the bound begins', async () => {
    const { sink, told, clock, fallBehind, catchUp } = open();
    fallBehind();
    sink.exited(1, exit);
    clock.advance(EXIT_DRAIN_MS * 10);
    expect(told).toEqual([]);
    await catchUp();
    clock.advance(EXIT_DRAIN_MS - 1);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual([exit, false]);
  });

  it('for a moment during the wait makes it begin anew', async () => {
    const { sink, told, clock, reader, fallBehind, catchUp } = open();
    sink.exited(1, exit);
    fallBehind();
    sink.output(chunkOf(5));
    reader.writable = true;
    clock.advance(EXIT_DRAIN_MS);
    expect(told).toEqual([5]);
    await catchUp();
    clock.advance(EXIT_DRAIN_MS);
    expect(told).toEqual([5, exit, false]);
  });

  it.each([
    [2 * MEBIBYTE - 1, false],
    [2 * MEBIBYTE, false],
    [2 * MEBIBYTE + 1, true],
  ])('cannot delay the end by what others write: %i bytes after it', (bytes, ended) => {
    const { sink, told, clock, fallBehind } = open();
    sink.exited(1, exit);
    fallBehind();
    sink.output(chunkOf(bytes));
    clock.advance(EXIT_DRAIN_MS);
    expect(told.includes(exit)).toBe(ended);
  });
});

it('holds nothing back once the end is told', () => {
  const { sink, clock, fallBehind } = open();
  sink.exited(1, exit);
  clock.advance(EXIT_DRAIN_MS);
  fallBehind();
  expect(sink.writable).toBe(true);
});
