/** First byte of a binary message in one frame: the last of its message, no extensions. */
const FINAL_BINARY = 0x82;

/** Longest payload whose length stands in the second byte itself, in bytes. */
const MAX_SHORT_BYTES = 125;
/** Longest payload whose length takes 16 bits, in bytes. */
const MAX_MEDIUM_BYTES = 0xffff;
/** What stands in the second byte where the length follows in 16 or 64 bits. */
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;

const SHORT_HEADER_BYTES = 2;
const MEDIUM_HEADER_BYTES = 4;
const LONG_HEADER_BYTES = 10;
/** Where the lower 6 bytes of a length of 8 begin. */
const LOWER_48_BITS_AT = 4;

/**
 * The header of a WebSocket frame without a mask that is a whole binary message (RFC 6455, section 5.2), and after it
 * `start`, the first bytes of the payload.
 *
 * @param payloadBytes length of the whole payload
 */
export function frameBinaryMessage(start: Uint8Array, payloadBytes: number): Buffer {
  if (payloadBytes <= MAX_SHORT_BYTES) return writeFrame(SHORT_HEADER_BYTES, payloadBytes, start);
  if (payloadBytes <= MAX_MEDIUM_BYTES) {
    const frame = writeFrame(MEDIUM_HEADER_BYTES, LENGTH_OF_16_BITS, start);
    frame.writeUInt16BE(payloadBytes, SHORT_HEADER_BYTES);
    return frame;
  }
  const frame = writeFrame(LONG_HEADER_BYTES, LENGTH_OF_64_BITS, start);
  frame.writeUInt16BE(0, SHORT_HEADER_BYTES);
  frame.writeUIntBE(payloadBytes, LOWER_48_BITS_AT, LONG_HEADER_BYTES - LOWER_48_BITS_AT);
  return frame;
}

function writeFrame(headerBytes: number, lengthByte: number, start: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + start.length);
  frame[0] = FINAL_BINARY;
  frame[1] = lengthByte;
  frame.set(start, headerBytes);
  return frame;
}
