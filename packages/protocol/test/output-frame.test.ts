import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeOutputFrame,
  encodeOutputFrame,
  fitsOutputFrame,
  MAX_FRAMED_ID_BYTES,
  MalformedMessageError,
  OutputFrameEncoder,
} from '../src/index.js';

const id = (length: { minLength?: number } = {}) => fc.string({ unit: 'binary', maxLength: 40, ...length });
const anyFrame = fc.record(
  {
    processId: id(),
    sessionId: id({ minLength: 1 }),
    seq: fc.maxSafeNat(),
    stream: fc.constantFrom('stdout' as const, 'stderr' as const, 'pty' as const),
    data: fc.uint8Array({ maxLength: 300 }),
  },
  { requiredKeys: ['processId', 'seq', 'stream', 'data'] },
);

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('output frames', () => {
  it('have this layout', () => {
    const frame = { processId: 'é', sessionId: 's', seq: 0x0001_0203_0405_0607, stream: 'pty' } as const;
    expect(hex(encodeOutputFrame({ ...frame, data: Uint8Array.of(0xff, 0x00) }))).toBe(
      ['01', '02', '0002', '0001', '0000', '0001020304050607', 'c3a9', '73', 'ff00'].join(''),
    );
    const smallest = { processId: '', seq: 1, stream: 'stderr', data: new Uint8Array() } as const;
    expect(hex(encodeOutputFrame(smallest))).toBe('01010000000000000000000000000001');
  });

  it('decode to what was encoded, wherever they lie in memory', () => {
    fc.assert(
      fc.property(anyFrame, fc.nat(20), (frame, offset) => {
        const bytes = encodeOutputFrame(frame);
        const memory = new Uint8Array(offset + bytes.length + 5).fill(0xaa);
        memory.set(bytes, offset);
        expect(decodeOutputFrame(memory.subarray(offset, offset + bytes.length))).toEqual(frame);
      }),
    );
  });

  it('are a head and the data, each head in memory of its own', () => {
    const encoder = new OutputFrameEncoder('p', 's');
    const data = Uint8Array.of(1, 2, 3);
    const heads = [encoder.encodeHead(7, 'stdout'), encoder.encodeHead(8, 'pty')];
    expect(heads.map((head) => hex(head) + hex(data))).toEqual([
      hex(encoder.encode(7, 'stdout', data)),
      hex(encoder.encode(8, 'pty', data)),
    ]);
    expect(() => encoder.encodeHead(-1, 'stdout')).toThrow(RangeError);
  });

  it('any bytes are one frame or none', () => {
    const header = fc
      .tuple(fc.constantFrom(0, 1, 2), fc.nat(3), fc.nat(3), fc.nat(3), fc.constantFrom(0, 0, 1), fc.nat(255))
      .map(([type, stream, processId, sessionId, reserved, high]) =>
        Uint8Array.of(type, stream, 0, processId, 0, sessionId, 0, reserved, 0, high, 0, 0, 0, 0, 0, 9),
      );
    const rest = fc.uint8Array({ maxLength: 12 });
    const bytes = fc.oneof(
      rest,
      fc.tuple(header, rest).map((parts) => Uint8Array.from(parts.flatMap((part) => [...part]))),
    );
    fc.assert(
      fc.property(bytes, (candidate) => {
        try {
          expect(encodeOutputFrame(decodeOutputFrame(candidate))).toEqual(candidate);
        } catch (error) {
          if (!(error instanceof MalformedMessageError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('hand out a view, and an encoder a new buffer each time', () => {
    const encoder = new OutputFrameEncoder('p');
    const first = encoder.encode(1, 'stdout', Uint8Array.of(1));
    const second = encoder.encode(2, 'stderr', Uint8Array.of(2));
    expect(decodeOutputFrame(first)).toMatchObject({ seq: 1, stream: 'stdout', data: Uint8Array.of(1) });
    expect(decodeOutputFrame(second)).toMatchObject({ seq: 2, stream: 'stderr', data: Uint8Array.of(2) });
    expect(decodeOutputFrame(first).data.buffer).toBe(first.buffer);
  });

  it.each([
    ['nothing', [], '0 bytes are less than its header of 16'],
    [
      'half a header',
      [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      '15 bytes are less than its header of 16',
    ],
    ['JSON', [...Buffer.from('{"method":"process/output"}')], 'unknown type 123'],
    ['another type', [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 'unknown type 2'],
    ['another stream', [1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 'unknown stream 3'],
    ['a reserved bit', [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1], 'reserved field is 256, expected 0'],
    [
      'an early end',
      [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x61],
      '17 bytes end before its ids at 18',
    ],
    ['an id that is no text', [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff], 'an id is not UTF-8'],
    ['2^53', [1, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0], 'sequence number beyond 2^53'],
  ])('%s is malformed', (_name, bytes, problem) => {
    expect(() => decodeOutputFrame(Uint8Array.from(bytes))).toThrow(
      new MalformedMessageError(`output frame: ${problem}`),
    );
  });
});

describe('what does not fit', () => {
  it.each([
    ['x'.repeat(MAX_FRAMED_ID_BYTES - 1), true],
    ['x'.repeat(MAX_FRAMED_ID_BYTES), true],
    ['x'.repeat(MAX_FRAMED_ID_BYTES + 1), false],
    [`x${'é'.repeat((MAX_FRAMED_ID_BYTES - 1) / 2)}`, true],
    [`xx${'é'.repeat((MAX_FRAMED_ID_BYTES - 1) / 2)}`, false],
  ])('ids are counted in bytes of UTF-8 (case %#)', (longId, fits) => {
    expect(fitsOutputFrame(longId)).toBe(fits);
    const frames = [{ processId: longId }, { processId: 'p', sessionId: longId }];
    for (const ids of frames) {
      const frame = { ...ids, seq: 1, stream: 'stdout', data: Uint8Array.of(7) } as const;
      if (fits) expect(decodeOutputFrame(encodeOutputFrame(frame))).toEqual(frame);
      else expect(() => encodeOutputFrame(frame)).toThrow(RangeError);
    }
  });

  it('an empty session id would read as none', () => {
    expect(() => new OutputFrameEncoder('p', '')).toThrow(RangeError);
  });

  it.each([
    [-1, false],
    [0, true],
    [1.5, false],
    [2 ** 32 - 1, true],
    [2 ** 32, true],
    [Number.MAX_SAFE_INTEGER, true],
    [Number.MAX_SAFE_INTEGER + 1, false],
  ])('seq %d', (seq, fits) => {
    const encode = () => new OutputFrameEncoder('p').encode(seq, 'stdout', new Uint8Array());
    if (fits) expect(decodeOutputFrame(encode()).seq).toBe(seq);
    else expect(encode).toThrow(RangeError);
  });
});
