import { isAscii } from 'node:buffer';

/** Text shorter than this, in bytes, is decoded before it could be looked at. */
const LONG_TEXT_BYTES = 4096;

/** The text of valid UTF-8. Large messages are mostly base64, which need not be decoded, only copied. */
export function decodeText(bytes: Buffer): string {
  return bytes.toString(bytes.length >= LONG_TEXT_BYTES && isAscii(bytes) ? 'latin1' : 'utf8');
}
