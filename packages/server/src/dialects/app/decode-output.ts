const BEYOND_ASCII = /[\u0080-\u{10ffff}]/u;

/**
 * Output as text. It is UTF-8 in which broken characters are replaced; where no character beyond ASCII is UTF-8 it is
 * Latin-1, as older programs write it.
 */
export function decodeOutput(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd') || isUtf8Prefix(bytes)) return text;
  if (BEYOND_ASCII.test(text.replaceAll('\ufffd', ''))) return text;
  return bytes.toString('latin1');
}

/** Whether bytes are UTF-8 that may have been cut in the middle of a character, as a cap does. */
function isUtf8Prefix(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
