import { once } from 'node:events';
import { closeSync, writeSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_CHUNK_BYTES } from '../../src/native/constants.js';
import { DescriptorSource } from '../../src/native/descriptor-source.js';
import { DescriptorScope } from '../../src/native/descriptors.js';
import { type Libc, loadLibc } from '../../src/native/libc.js';
import { LARGE_PIPE_BYTES } from '../../src/native/pipe-capacity.js';
import { openOutputPipe } from '../../src/native/pipes.js';

const F_GETPIPE_SZ = 1032;
/** From here on a stream counts as one that carries much. */
const ENLARGED_AT_BYTES = 4 * MAX_CHUNK_BYTES;
const libc = loadLibc();

function openSource(calls: Libc = libc) {
  const scope = new DescriptorScope(libc);
  const { ours, theirs } = openOutputPipe(libc, scope);
  const source = new DescriptorSource(calls, 'stdout', ours);
  const events = new EventTarget();
  const chunks: Buffer[] = [];
  let bytes = 0;
  source.start(
    (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      events.dispatchEvent(new Event('chunk'));
    },
    () => events.dispatchEvent(new Event('end')),
  );
  const waitForBytes = async (count: number) => {
    while (bytes < count) await once(events, 'chunk');
  };
  return { source, chunks, events, theirs, waitForBytes, capacity: () => libc.fcntl(ours, F_GETPIPE_SZ, 0) };
}

/** Writes no more than the pipe has room for, and waits until that was read. */
async function feed({ theirs, waitForBytes }: ReturnType<typeof openSource>, total: number) {
  for (let written = 0; written < total; ) {
    written += writeSync(theirs, Buffer.alloc(Math.min(32_768, total - written), written / 32_768 + 1));
    await waitForBytes(written);
  }
}

/** From here on a large write does not block this thread, which is the one that reads. */
async function openLargeSource() {
  const pipe = openSource();
  await feed(pipe, ENLARGED_AT_BYTES);
  await new Promise(setImmediate);
  expect(pipe.capacity()).toBe(LARGE_PIPE_BYTES);
  return pipe;
}

describe('a pipe that carries much', () => {
  it.each([
    [ENLARGED_AT_BYTES - 1, false],
    [ENLARGED_AT_BYTES, true],
    [ENLARGED_AT_BYTES + 1, true],
  ])('is large after %i bytes: %s', async (bytes, large) => {
    const pipe = openSource();
    await feed(pipe, bytes);
    await new Promise(setImmediate);
    expect(pipe.capacity() === LARGE_PIPE_BYTES).toBe(large);
    closeSync(pipe.theirs);
    pipe.source.destroy();
  });

  it('loses nothing and keeps the order, in chunks of at most 64 KiB', async () => {
    const pipe = await openLargeSource();
    const ended = once(pipe.events, 'end');
    const block = Buffer.alloc(LARGE_PIPE_BYTES, 'abcdefghijklmnopqrstuvwxy');
    expect(writeSync(pipe.theirs, block)).toBe(block.length);
    closeSync(pipe.theirs);
    await ended;
    const all = Buffer.concat(pipe.chunks);
    expect(all.subarray(ENLARGED_AT_BYTES).equals(block)).toBe(true);
    expect(Math.max(...pipe.chunks.map(({ length }) => length))).toBe(MAX_CHUNK_BYTES);
  });

  it('is read no further in a turn once its reader has had enough', async () => {
    const pipe = await openLargeSource();
    const before = pipe.chunks.length;
    pipe.events.addEventListener('chunk', () => pipe.source.pause(), { once: true });
    writeSync(pipe.theirs, Buffer.alloc(3 * MAX_CHUNK_BYTES));
    await once(pipe.events, 'chunk');
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    expect(pipe.chunks).toHaveLength(before + 1);
    pipe.source.resume();
    await pipe.waitForBytes(ENLARGED_AT_BYTES + 3 * MAX_CHUNK_BYTES);
    closeSync(pipe.theirs);
    pipe.source.destroy();
  });
});

describe('looking for output soon', () => {
  it('finds what nobody has told of yet', async () => {
    const { source, chunks, theirs } = openSource();
    source.lookSoon();
    writeSync(theirs, 'x');
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(chunks.map(String)).toEqual(['x']);
    closeSync(theirs);
    source.destroy();
  });

  it('finds nothing where there is nothing, and nothing while it is paused', async () => {
    const { source, chunks, theirs, waitForBytes } = openSource();
    source.lookSoon();
    await new Promise(setImmediate);
    expect(chunks).toEqual([]);
    source.pause();
    writeSync(theirs, 'x');
    source.lookSoon();
    await new Promise(setImmediate);
    expect(chunks).toEqual([]);
    source.resume();
    await waitForBytes(1);
    closeSync(theirs);
    source.destroy();
  });
});

describe('a writer of many small pieces', () => {
  /** Turns that each find more than one piece, after which the pipe rests. */
  const CHATTY_TURNS = 4;
  const REST_MS = 1;
  const MAX_GATHERED_BYTES = 16_384;

  // Rests last until the test says otherwise.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const letTurnsPass = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };

  function openChat() {
    let written = 0;
    let afterRead = '';
    const calls: Libc = {
      ...libc,
      read(fd, into, length) {
        const result = libc.read(fd, into, length);
        // As a writer does that is at it all the time.
        if (result > 0 && afterRead !== '') written += writeSync(pipe.theirs, afterRead);
        afterRead = '';
        return result;
      },
    };
    const pipe = openSource(calls);
    const write = (text: string) => {
      written += writeSync(pipe.theirs, text);
    };
    const turn = async (pieces: 1 | 2 = 2) => {
      if (pieces === 2) afterRead = 'y';
      write('x');
      await pipe.waitForBytes(written);
      await letTurnsPass();
    };
    const isRead = async () => {
      await letTurnsPass();
      return Buffer.concat(pipe.chunks).length === written;
    };
    const end = () => {
      closeSync(pipe.theirs);
      pipe.source.destroy();
    };
    return { ...pipe, write, turn, isRead, end };
  }

  async function openResting() {
    const chat = openChat();
    for (let turn = 0; turn < CHATTY_TURNS; turn++) await chat.turn();
    return chat;
  }

  it.each([
    [CHATTY_TURNS - 1, true],
    [CHATTY_TURNS, false],
    [CHATTY_TURNS + 1, false],
  ])('after %i busy turns the next piece is read at once: %s', async (turns, atOnce) => {
    const chat = openChat();
    for (let turn = 0; turn < Math.min(turns, CHATTY_TURNS); turn++) await chat.turn();
    for (let rest = CHATTY_TURNS; rest < turns; rest++) {
      chat.write('more');
      await vi.advanceTimersByTimeAsync(REST_MS);
    }
    chat.write('next');
    expect(await chat.isRead()).toBe(atOnce);
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect(await chat.isRead()).toBe(true);
    chat.end();
  });

  it('is told from one that writes now and then', async () => {
    const chat = openChat();
    for (let turn = 0; turn < 3 * CHATTY_TURNS; turn++) await chat.turn(turn % CHATTY_TURNS === 0 ? 1 : 2);
    chat.write('next');
    expect(await chat.isRead()).toBe(true);
    chat.end();
  });

  it('is read at once again after a rest in which it wrote nothing', async () => {
    const chat = await openResting();
    await vi.advanceTimersByTimeAsync(REST_MS);
    chat.write('next');
    expect(await chat.isRead()).toBe(true);
    chat.end();
  });

  it('is read at once, and from then on, when somebody waits for it', async () => {
    const chat = await openResting();
    chat.write('answer');
    chat.source.wake();
    expect(await chat.isRead()).toBe(true);
    await chat.turn();
    chat.write('next');
    expect(await chat.isRead()).toBe(true);
    chat.end();
  });

  it.each([
    [MAX_GATHERED_BYTES - 1, false],
    [MAX_GATHERED_BYTES, false],
    [MAX_GATHERED_BYTES + 1, true],
  ])('%i bytes in one rest end the resting: %s', async (bytes, ends) => {
    const chat = await openResting();
    chat.write('x'.repeat(bytes));
    await vi.advanceTimersByTimeAsync(REST_MS);
    chat.write('next');
    expect(await chat.isRead()).toBe(ends);
    chat.end();
  });

  it('is read before what its process wrote later to the other stream', async () => {
    const out = await openResting();
    const err = openSource();
    err.source.readAfter(out.source);
    const order: string[] = [];
    out.events.addEventListener('chunk', () => order.push(String(out.chunks.at(-1))));
    err.events.addEventListener('chunk', () => order.push(String(err.chunks.at(-1))));
    out.write('first');
    writeSync(err.theirs, 'second');
    await err.waitForBytes('second'.length);
    expect(order).toEqual(['first', 'second']);
    closeSync(err.theirs);
    err.source.destroy();
    out.end();
  });
});
