import { spareBuffers } from './spare-buffers.js';

const GROUP_SYMBOLS = 4;
const GROUP_BYTES = 3;

/** Symbols that are a string on their way, whole groups: strings of this size are collected cheaply. */
const SLICE_SYMBOLS = 16 * 1024 * GROUP_SYMBOLS;

/** Symbols of the alphabet for URLs, which Node takes as well. */
const DASH = 0x2d;
const UNDERSCORE = 0x5f;

/**
 * The bytes that standard base64 spells, given as ASCII, or nothing for text that is anything else: a foreign symbol, no
 * padding, bits that are not used but set.
 */
export function decodeBase64Strictly(text: Buffer): Buffer<ArrayBuffer> | undefined {
  if (text.length % GROUP_SYMBOLS !== 0 || text.includes(DASH) || text.includes(UNDERSCORE)) return undefined;
  if (text.length === 0) return Buffer.alloc(0);
  // The last group may be padded. It is proved by spelling its bytes again, for they have one spelling only.
  const plainSymbols = text.length - GROUP_SYMBOLS;
  const lastGroup = text.toString('latin1', plainSymbols);
  const lastBytes = Buffer.from(lastGroup, 'base64');
  if (lastBytes.toString('base64') !== lastGroup) return undefined;
  const bytes = spareBuffers.take((plainSymbols / GROUP_SYMBOLS) * GROUP_BYTES + lastBytes.length);
  for (let start = 0; start < plainSymbols; start += SLICE_SYMBOLS) {
    const end = Math.min(start + SLICE_SYMBOLS, plainSymbols);
    const at = (start / GROUP_SYMBOLS) * GROUP_BYTES;
    const written = bytes.write(text.toString('latin1', start, end), at, 'base64');
    // Node passes over what is no symbol, and then there are fewer bytes than there should be.
    if (written !== ((end - start) / GROUP_SYMBOLS) * GROUP_BYTES) {
      spareBuffers.give(bytes);
      return undefined;
    }
  }
  lastBytes.copy(bytes, bytes.length - lastBytes.length);
  return bytes;
}
