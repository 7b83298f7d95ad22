import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutOutput, largestPiece, RETENTION_PARTS } from '../../src/output/cut-output.js';

const lengths = (data: number, limit: number) =>
  Array.from(cutOutput(Buffer.alloc(data), limit), ({ length }) => length);

describe('output is cut', () => {
  it.each([
    // Whatever is read fits into a sixteenth of the default.
    [65_536, 1024 * 1024, [65_536]],
    [9, 160, [9]],
    [10, 160, [10]],
    [11, 160, [10, 1]],
    [160, 160, Array(16).fill(10)],
    // What cannot be kept in the end stays in one piece.
    [1_000, 160, [840, ...Array(16).fill(10)]],
    [65_536, 1, [65_535, 1]],
    [5, 7, [1, 1, 1, 1, 1]],
    [65_536, 0, [65_536]],
  ])('%i bytes, of which %i may be kept', (data, limit, expected) => {
    expect(lengths(data, limit)).toEqual(expected);
  });

  it('without a byte lost, into few pieces that are small enough', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 5_000 }),
        fc.integer({ min: 1, max: 9_000 }),
        (bytes, limit) => {
          const pieces = [...cutOutput(Buffer.from(bytes), limit)];
          expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
          const isOld = bytes.length > limit && bytes.length > largestPiece(limit);
          for (const piece of isOld ? pieces.slice(1) : pieces)
            expect(piece.length).toBeLessThanOrEqual(Math.max(1, limit / RETENTION_PARTS));
          expect(pieces.length).toBeLessThanOrEqual(2 * RETENTION_PARTS);
        },
      ),
    );
  });

  it('into pieces that do not keep what they were cut from', () => {
    const [, ...kept] = cutOutput(Buffer.alloc(65_536), 160);
    expect(kept.map(({ buffer }) => buffer.byteLength)).toEqual(Array(16).fill(160));
  });
});
