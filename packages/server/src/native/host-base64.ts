import { type Base64Writer, useBase64Writer } from '@exec-server/rpc/node';
import type { Libc } from './libc.js';

/** The usual alphabet, with padding. */
const STANDARD_OPTIONS = 0;

/** What is spelled once as a proof, and how. */
const KNOWN_BYTES = Buffer.from([0xfb, 0xff, 0xbf, 0x00]);
const KNOWN_BASE64 = '+/+/AA==';

/**
 * Has messages with base64 in them spelled where they lie, by the library that Node itself spells base64 with. Through
 * Node's own functions each byte is spelled into memory for that moment, copied into a string, and copied from there.
 * Nothing happens where Node does not show that library, as from version 24 on, or where it does not do what it should.
 */
export function useHostBase64(libc: Libc): void {
  const writer = makeWriter(libc);
  const proof = Buffer.alloc(KNOWN_BASE64.length);
  if (writer?.(KNOWN_BYTES, proof, 0) === proof.length && proof.toString('latin1') === KNOWN_BASE64)
    useBase64Writer(writer);
}

function makeWriter({ simdutfToBase64 }: Libc): Base64Writer | undefined {
  if (simdutfToBase64 === null) return undefined;
  return (bytes, into, at) => simdutfToBase64(bytes, bytes.length, into.subarray(at), STANDARD_OPTIONS);
}
