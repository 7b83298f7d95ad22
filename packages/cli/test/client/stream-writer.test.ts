import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { StreamWriter } from '../../src/client/stream-writer.js';

/** A stream with room for four bytes whose reader takes one write when it is told to. */
function createSlowStream() {
  const taken: string[] = [];
  let release: ((error?: Error) => void) | undefined;
  const stream = new Writable({
    highWaterMark: 4,
    write(chunk, _encoding, done) {
      release = (error) => {
        release = undefined;
        if (error === undefined) taken.push(String(chunk));
        done(error);
      };
    },
  });
  stream.on('error', () => {});
  return { stream, taken, take: (error?: Error) => release?.(error) };
}

it('goes on at once while there is room, and waits where there is none', async () => {
  const { stream, taken, take } = createSlowStream();
  const writer = new StreamWriter(stream);
  expect(await writer.write('abc')).toBe(true);
  let isWritten = false;
  const writing = writer.write('d').then((isRead) => {
    isWritten = true;
    return isRead;
  });
  await new Promise(setImmediate);
  expect(isWritten).toBe(false);
  take();
  take();
  expect(await writing).toBe(true);
  expect(taken).toEqual(['abc', 'd']);
});

it('flushes until the last byte was taken', async () => {
  const { stream, taken, take } = createSlowStream();
  const writer = new StreamWriter(stream);
  await writer.write('abc');
  const flushing = writer.flush().then(() => taken.length);
  take();
  await new Promise(setImmediate);
  take();
  expect(await flushing).toBeGreaterThan(0);
  await new StreamWriter(stream).flush();
});

it('says when nobody reads any more, and stays with that', async () => {
  const { stream, take } = createSlowStream();
  const writer = new StreamWriter(stream);
  const writing = writer.write('abcdef');
  take(new Error('EPIPE'));
  expect(await writing).toBe(false);
  expect(writer.isBroken).toBe(true);
  expect(await writer.write('x')).toBe(false);
  await writer.flush();
});
