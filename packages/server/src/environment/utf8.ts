import { isUtf8 } from 'node:buffer';

interface Sequence {
  readonly length: number;
  /** Range of the second byte; later ones are any continuation. */
  readonly from: number;
  readonly to: number;
}

/** Says where bytes stop being UTF-8, in the words that clients know; nothing when all of them are. */
export function describeInvalidUtf8(bytes: Buffer): string | undefined {
  if (isUtf8(bytes)) return undefined;
  for (let at = 0; ; ) {
    const sequence = sequenceAt(bytes, at);
    if (sequence === undefined) return `invalid utf-8 sequence of 1 bytes from index ${at}`;
    let good = 1;
    while (good < sequence.length && continues(bytes[at + good], good, sequence)) good++;
    if (good < sequence.length) {
      if (at + good === bytes.length) return `incomplete utf-8 byte sequence from index ${at}`;
      return `invalid utf-8 sequence of ${good} bytes from index ${at}`;
    }
    at += good;
  }
}

/** What the byte at `at` begins, or nothing when it cannot begin anything. */
function sequenceAt(bytes: Buffer, at: number): Sequence | undefined {
  const first = bytes[at]!;
  if (first < 0x80) return { length: 1, from: 0, to: 0 };
  if (first < 0xc2 || first > 0xf4) return undefined;
  if (first < 0xe0) return { length: 2, from: 0x80, to: 0xbf };
  // Neither longer forms than needed, nor surrogates, nor anything beyond U+10FFFF.
  if (first < 0xf0)
    return { length: 3, from: first === 0xe0 ? 0xa0 : 0x80, to: first === 0xed ? 0x9f : 0xbf };
  return { length: 4, from: first === 0xf0 ? 0x90 : 0x80, to: first === 0xf4 ? 0x8f : 0xbf };
}

function continues(byte: number | undefined, index: number, { from, to }: Sequence): boolean {
  if (byte === undefined) return false;
  return index === 1 ? byte >= from && byte <= to : byte >= 0x80 && byte <= 0xbf;
}
