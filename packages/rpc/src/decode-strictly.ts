const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a binary message, or nothing when it is not UTF-8. */
export function decodeStrictly(bytes: Uint8Array | ArrayBuffer): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}
