import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputEncoder } from '../../src/node/index.js';

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  // Quotes, control characters and surrogates without their other half.
  fc
    .array(fc.constantFrom('"', '\\', '\n', '\u0000', '\u2028', '\ud800', '\udfff', 'é'))
    .map((all) => all.join('')),
);

describe('OutputEncoder', () => {
  test('writes what JSON.stringify would, and a newline', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.maxSafeNat(),
        fc.constantFrom('stdout', 'stderr', 'pty'),
        fc.uint8Array({ maxLength: 5000 }),
        (processId, seq, stream, chunk) => {
          const params = { processId, seq, stream, chunk: Buffer.from(chunk).toString('base64') };
          const expected = `${JSON.stringify({ method: 'process/output', params })}\n`;
          const line = new OutputEncoder('process/output', processId).encode(seq, stream, chunk);
          expect(line.equals(Buffer.from(expected))).toBe(true);
        },
      ),
    );
  });

  test('encodes only the bytes that a view shows', () => {
    const memory = Uint8Array.from([1, 2, 3, 4, 5]).buffer;
    const line = new OutputEncoder('process/output', 'p').encode(1, 'pty', new Uint8Array(memory, 1, 3));
    expect(JSON.parse(line.toString()).params.chunk).toBe(Buffer.from([2, 3, 4]).toString('base64'));
  });

  test('each line is a buffer of its own', () => {
    const encoder = new OutputEncoder('process/output', 'p');
    const first = encoder.encode(1, 'stdout', Buffer.from('a'));
    const copy = Buffer.from(first);
    encoder.encode(2, 'stderr', Buffer.from('bb'));
    expect(first.equals(copy)).toBe(true);
  });

  test('takes a chunk of 1 MiB', () => {
    const chunk = Buffer.alloc(1024 * 1024, 0xff);
    const line = new OutputEncoder('process/output', 'p').encode(9, 'stdout', chunk);
    expect(Buffer.from(JSON.parse(line.toString()).params.chunk, 'base64').equals(chunk)).toBe(true);
  });
});
