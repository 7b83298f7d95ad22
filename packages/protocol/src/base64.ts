import { chooseBase64Codec } from './base64-codec.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** First character outside the alphabet. A search, not a match of the whole: it needs no stack however long the text is. */
const FOREIGN_SYMBOL = /[^A-Za-z0-9+/]/;

const CODEC = chooseBase64Codec();

/**
 * Says what is wrong with standard base64 text, or nothing. The alphabet is strict, padding is mandatory and the unused
 * bits of the last symbol must be zero, so that each byte sequence has exactly one spelling.
 */
export function checkBase64(text: string): string | undefined {
  const foreign = text.search(FOREIGN_SYMBOL);
  const symbols = foreign === -1 ? text.length : foreign;
  const padding = text.length - symbols;
  // Only one `=` after three symbols or two after two may follow; anything else is a symbol out of place.
  if (padding > 0 && !isPadding(text, symbols, padding)) {
    const offset = findOffender(text, symbols);
    return `Invalid symbol ${firstByte(text, offset)}, offset ${offset}.`;
  }
  const spare = symbols % 4;
  if (spare === 1) return `Invalid input length: ${text.length}`;
  if (spare === 0) return undefined;
  if (spare + padding !== 4) return 'Invalid padding';
  const last = symbols - 1;
  const unusedBits = spare === 2 ? 0b1111 : 0b11;
  if ((ALPHABET.indexOf(text.charAt(last)) & unusedBits) !== 0) {
    return `Invalid last symbol ${text.charCodeAt(last)}, offset ${last}.`;
  }
  return undefined;
}

function isPadding(text: string, from: number, count: number): boolean {
  const spare = from % 4;
  return spare >= 2 && count <= 4 - spare && text.endsWith('='.repeat(count));
}

/** The symbol to blame: a lone last one that can never be right, such as a newline, comes before all others. */
function findOffender(text: string, first: number): number {
  const last = text.length - 1;
  return text.length % 4 === 1 && text[last] !== '=' && FOREIGN_SYMBOL.test(text.charAt(last)) ? last : first;
}

/** The first byte of a character's UTF-8 form: offenders are named by byte, not by character. */
function firstByte(text: string, index: number): number {
  const code = text.codePointAt(index) as number;
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
}

/** Decodes text that {@link checkBase64} has nothing against. The bytes have memory of their own. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return CODEC.decode(text);
}

export function encodeBase64(bytes: Uint8Array): string {
  return CODEC.encode(bytes);
}
