import { expect, it } from 'vitest';
import { encodeFrame, type Frame, FrameKind, FrameReader } from '../../../src/sandbox/files/frames.js';

const FRAMES: readonly Frame[] = [
  { kind: FrameKind.call, id: 1, body: Buffer.from('{"method":"x"}') },
  { kind: FrameKind.cancel, id: 2 ** 32 - 1, body: Buffer.alloc(0) },
  { kind: FrameKind.response, id: 0, body: Buffer.alloc(100_000, 7) },
];
const BYTES = Buffer.concat(FRAMES.flatMap(encodeFrame));

it.each([1, 2, 8, 9, 10, 4096, BYTES.length])('frames arrive in chunks of %i bytes', (size) => {
  const seen: Frame[] = [];
  const reader = new FrameReader(100_000, (frame) => seen.push(frame));
  for (let at = 0; at < BYTES.length; at += size) reader.push(BYTES.subarray(at, at + size));
  expect(seen).toEqual(FRAMES);
});

it.each([
  [99, true],
  [100, true],
  [101, false],
])('a body of %i bytes where 100 are allowed', (length, fits) => {
  const reader = new FrameReader(100, () => {});
  const frame = Buffer.concat(encodeFrame({ kind: FrameKind.result, id: 1, body: Buffer.alloc(length) }));
  const push = () => reader.push(frame);
  if (fits) expect(push).not.toThrow();
  else expect(push).toThrow(RangeError);
});
