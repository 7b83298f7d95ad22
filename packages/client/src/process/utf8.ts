const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;

/** Longest character of UTF-8, in bytes. */
const MAX_CHARACTER_BYTES = 4;

/** How many of the bytes are left when a character that is cut off at their end is taken away. */
export function completeLength(bytes: Uint8Array): number {
  const oldest = Math.max(0, bytes.length - MAX_CHARACTER_BYTES + 1);
  for (let index = bytes.length - 1; index >= oldest; index--) {
    const byte = bytes[index] as number;
    if (isContinuation(byte)) continue;
    return index + characterBytes(byte) > bytes.length ? index : bytes.length;
  }
  return bytes.length;
}

/** How many bytes at the beginning are the end of a character that was cut off before them. */
export function severedLength(bytes: Uint8Array): number {
  let length = 0;
  while (length < MAX_CHARACTER_BYTES - 1 && isContinuation(bytes[length] ?? 0)) length++;
  return length;
}

/** Decodes a whole text. A byte order mark stays, as everything that a program wrote. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function isContinuation(byte: number): boolean {
  return (byte & CONTINUATION_MASK) === CONTINUATION;
}

/** Bytes of the character that begins with this one; 1 for what begins none. */
function characterBytes(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  return 1;
}
