import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutputStream } from '../../src/native/launch.js';
import { cutOutput } from '../../src/output/cut-output.js';
import { RetainedLog } from '../../src/output/retained-log.js';
import { HEAD_BYTES, StreamHeads } from '../../src/output/stream-heads.js';

const pattern = (from: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, index) => (from + index) % 251));

/** A log with the beginnings of its streams, to which output is added as a process adds it. */
function openLog(streams: readonly OutputStream[], bytes: number, chunks = 100_000) {
  const heads = new StreamHeads(streams, bytes);
  const log = new RetainedLog({ bytes, chunks }, heads);
  const append = (stream: OutputStream, data: Buffer) => {
    for (const piece of cutOutput(data, bytes)) log.append(stream, piece).release();
  };
  return { heads, log, append, read: () => heads.join(log.chunksAfter(0)) };
}

describe('the head of a stream', () => {
  it.each([
    [16 * 2 - 1, 1],
    [16 * 2, 2],
    [16 * HEAD_BYTES - 1, HEAD_BYTES - 1],
    [16 * HEAD_BYTES, HEAD_BYTES],
    [16 * HEAD_BYTES + 16, HEAD_BYTES],
  ])('with %i bytes kept in all has %i', (kept, headBytes) => {
    const { append, read, log, heads } = openLog(['stdout'], kept);
    append('stdout', pattern(0, kept + 1));
    const [snapshot] = read();
    expect(snapshot?.head).toEqual(pattern(0, headBytes));
    expect(heads.bytes).toBe(headBytes);
    expect(heads.bytes + log.retainedBytes).toBeLessThanOrEqual(kept);
  });

  it('is shared among the streams', () => {
    const { append, read } = openLog(['stdout', 'stderr'], 320);
    append('stdout', pattern(0, 400));
    append('stderr', pattern(1, 400));
    expect(read().map(({ head }) => head.length)).toEqual([10, 10]);
  });
});

it.each([
  [1_599, 0],
  [1_600, 0],
  [1_601, 1],
])('of %i bytes, with 1600 kept, at least %i are dropped', (length, dropped) => {
  const { append, read } = openLog(['stdout'], 1_600);
  append('stdout', pattern(0, length));
  const [snapshot] = read();
  expect(snapshot?.totalBytes).toBe(length);
  expect(snapshot!.head.length + snapshot!.tail.length + snapshot!.droppedBytes).toBe(length);
  if (dropped === 0) expect(snapshot?.droppedBytes).toBe(0);
  else expect(snapshot?.droppedBytes).toBeGreaterThan(0);
});

it('head, dropped bytes and tail always make up the stream, and are no more than may be kept', () => {
  const write = fc.record({ stderr: fc.boolean(), length: fc.integer({ min: 1, max: 9_000 }) });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 30 }), fc.integer({ min: 1, max: 30_000 }), (writes, bytes) => {
      const { append, read } = openLog(['stdout', 'stderr'], bytes, 40);
      const whole = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      for (const { stderr, length } of writes) {
        const stream = stderr ? 'stderr' : 'stdout';
        const data = pattern(whole[stream].length, length);
        whole[stream] = Buffer.concat([whole[stream], data]);
        append(stream, data);
      }
      let kept = 0;
      for (const { stream, head, tail, droppedBytes, totalBytes } of read()) {
        const all = whole[stream as 'stdout' | 'stderr'];
        expect(totalBytes).toBe(all.length);
        expect(head.equals(all.subarray(0, head.length))).toBe(true);
        expect(tail.equals(all.subarray(head.length + droppedBytes))).toBe(true);
        kept += head.length + tail.length;
      }
      expect(kept).toBeLessThanOrEqual(bytes);
    }),
  );
});
