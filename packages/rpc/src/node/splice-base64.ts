/**
 * A line of its own memory: `head`, `text` and `tail` around `bytes` in base64. Base64 never needs escaping; a
 * serializer would look through all of it for quotes.
 */
export function spliceBase64(head: Buffer, text: string, bytes: Uint8Array, tail: Buffer): Buffer {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  const line = Buffer.allocUnsafe(head.length + text.length + base64.length + tail.length);
  let at = head.copy(line);
  at += line.write(text, at, 'latin1');
  at += line.write(base64, at, 'latin1');
  tail.copy(line, at);
  return line;
}
