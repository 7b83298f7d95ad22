/** Bytes that are spelled at a time; longer strings are memory that is mapped and faulted in for each of them. */
const SPELLED_BYTES = 48 * 1024;

/**
 * A line of its own memory: `head`, `text` and `tail` around `bytes` in base64. Base64 never needs escaping; a
 * serializer would look through all of it for quotes.
 */
export function spliceBase64(head: Buffer, text: string, bytes: Uint8Array, tail: Buffer): Buffer {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const base64Length = Math.ceil(source.length / 3) * 4;
  const line = Buffer.allocUnsafe(head.length + text.length + base64Length + tail.length);
  let at = head.copy(line);
  at += line.write(text, at, 'latin1');
  for (let start = 0; start < source.length; start += SPELLED_BYTES)
    at += line.write(source.toString('base64', start, start + SPELLED_BYTES), at, 'latin1');
  tail.copy(line, at);
  return line;
}
