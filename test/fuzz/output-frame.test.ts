import { decodeOutputFrame, encodeOutputFrame, MalformedMessageError } from '@exec-server/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { testProperty } from './property.js';

const frame = fc.record(
  {
    processId: fc.string({ unit: 'grapheme' }),
    sessionId: fc.string({ unit: 'grapheme', minLength: 1 }),
    seq: fc.maxSafeNat(),
    stream: fc.constantFrom('stdout' as const, 'stderr' as const, 'pty' as const),
    data: fc.uint8Array({ maxLength: 64 }),
  },
  { requiredKeys: ['processId', 'seq', 'stream', 'data'], noNullPrototype: true },
);

testProperty(
  'a frame survives the wire',
  fc.property(frame, (sent) => {
    expect(decodeOutputFrame(encodeOutputFrame(sent))).toEqual(sent);
  }),
  2_000,
);

/** Frames with some bytes changed and perhaps cut short, and bytes that never were one. */
const frameBytes = fc.oneof(
  fc
    .tuple(frame, fc.array(fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 255 })), { maxLength: 4 }), fc.nat())
    .map(([sent, changes, length]) => {
      const bytes = encodeOutputFrame(sent);
      for (const [at, byte] of changes) bytes[at] = byte;
      return length % 3 === 0 ? bytes.subarray(0, length % (bytes.length + 1)) : bytes;
    }),
  fc.uint8Array({ maxLength: 80 }),
);

testProperty(
  'bytes are a frame that reads the same when it is written again, or are refused as malformed',
  fc.property(frameBytes, (bytes) => {
    try {
      const read = decodeOutputFrame(bytes);
      expect(Buffer.from(encodeOutputFrame(read))).toEqual(Buffer.from(bytes));
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedMessageError);
    }
  }),
  6_000,
);
