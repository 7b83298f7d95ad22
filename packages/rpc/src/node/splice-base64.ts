import { spareBuffers } from './spare-buffers.js';
import { base64Length, writeBase64 } from './write-base64.js';

/**
 * A line of its own memory, which {@link spareBuffers} takes back: `head`, `text` and `tail` around `bytes` in base64.
 * Base64 never needs escaping; a serializer would look through all of it for quotes.
 */
export function spliceBase64(
  head: Buffer,
  text: string,
  bytes: Uint8Array,
  tail: Buffer,
): Buffer<ArrayBuffer> {
  const line = spareBuffers.take(head.length + text.length + base64Length(bytes.length) + tail.length);
  let at = head.copy(line);
  at += line.write(text, at, 'latin1');
  at += writeBase64(bytes, line, at);
  tail.copy(line, at);
  return line;
}
