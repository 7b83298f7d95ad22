const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** First character outside the alphabet. A search, not a match of the whole: it needs no stack however long the text is. */
const FOREIGN_SYMBOL = /[^A-Za-z0-9+/]/;

/** Bytes per `String.fromCharCode` call, below every engine's limit on arguments. */
const CHUNK_BYTES = 32_768;

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
    return `Invalid symbol ${firstByte(text, symbols)}, offset ${symbols}.`;
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

/** The first byte of a character's UTF-8 form: offenders are named by byte, not by character. */
function firstByte(text: string, index: number): number {
  const code = text.codePointAt(index) as number;
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
}

/** Decodes text that {@link checkBase64} has nothing against. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES)));
  }
  return btoa(parts.join(''));
}
