import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RetainedLog } from '../../src/output/retained-log.js';
import { HEAD_BYTES, StreamHeads } from '../../src/output/stream-heads.js';

const pattern = (from: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, index) => (from + index) % 251));

it.each([
  [HEAD_BYTES - 1, 0],
  [HEAD_BYTES, 0],
  [HEAD_BYTES + 100, 0],
  [HEAD_BYTES + 101, 1],
])('of %i bytes, with a tail of 100, %i are dropped', (length, dropped) => {
  const heads = new StreamHeads(['stdout']);
  const log = new RetainedLog({ bytes: 100, chunks: 1_000 });
  for (const byte of pattern(0, length)) {
    heads.append('stdout', Buffer.of(byte));
    log.append('stdout', Buffer.of(byte));
  }
  const [snapshot] = heads.join(log.chunksAfter(0));
  expect(snapshot).toMatchObject({ droppedBytes: dropped, totalBytes: length });
  expect((snapshot?.head.length ?? 0) + (snapshot?.tail.length ?? 0)).toBe(length - dropped);
});

it('head, dropped bytes and tail always make up the stream', () => {
  const write = fc.record({ stderr: fc.boolean(), length: fc.integer({ min: 1, max: 9_000 }) });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 30 }), (writes) => {
      const heads = new StreamHeads(['stdout', 'stderr']);
      const log = new RetainedLog({ bytes: 20_000, chunks: 8 });
      const whole = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      for (const { stderr, length } of writes) {
        const stream = stderr ? 'stderr' : 'stdout';
        const data = pattern(whole[stream].length, length);
        whole[stream] = Buffer.concat([whole[stream], data]);
        heads.append(stream, data);
        log.append(stream, data);
      }
      for (const { stream, head, tail, droppedBytes, totalBytes } of heads.join(log.chunksAfter(0))) {
        const all = whole[stream as 'stdout' | 'stderr'];
        expect(totalBytes).toBe(all.length);
        expect(head.equals(all.subarray(0, head.length))).toBe(true);
        expect(tail.equals(all.subarray(head.length + droppedBytes))).toBe(true);
      }
    }),
  );
});
