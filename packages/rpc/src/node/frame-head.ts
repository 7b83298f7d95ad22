const MIN_HEAD_BYTES = 2;
/** Longest head of a frame (RFC 6455, section 5.2), in bytes. */
export const MAX_HEAD_BYTES = 14;
/** Length of the key at the end of the head of a masked frame, in bytes. */
export const MASK_KEY_BYTES = 4;

const FINAL_BIT = 0x80;
const RESERVED_BITS = 0x70;
const OPCODE_BITS = 0x0f;
const MASKED_BIT = 0x80;
const LENGTH_BITS = 0x7f;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;

const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PONG = 10;

/**
 * What a frame of a client is: the beginning of a message, more of it, `close`, another control frame, or nothing that a
 * client may send, whatever comes before.
 */
export type FrameKind = 'text' | 'binary' | 'continuation' | 'close' | 'control' | 'invalid';

/** How long a head is, by as much of it as there is. */
export function measureHead(head: Buffer, bytes: number): number {
  if (bytes < MIN_HEAD_BYTES) return MIN_HEAD_BYTES;
  const lengthByte = head[1] as number;
  const maskBytes = lengthByte >= MASKED_BIT ? MASK_KEY_BYTES : 0;
  switch (lengthByte & LENGTH_BITS) {
    case LENGTH_OF_16_BITS:
      return MIN_HEAD_BYTES + 2 + maskBytes;
    case LENGTH_OF_64_BITS:
      return MIN_HEAD_BYTES + 8 + maskBytes;
    default:
      return MIN_HEAD_BYTES + maskBytes;
  }
}

/** The length of the payload that a whole head announces. */
export function readPayloadLength(head: Buffer): number {
  const length = (head[1] as number) & LENGTH_BITS;
  if (length === LENGTH_OF_16_BITS) return head.readUInt16BE(MIN_HEAD_BYTES);
  // Lengths that a number cannot hold exactly are far beyond any limit.
  return length === LENGTH_OF_64_BITS ? Number(head.readBigUInt64BE(MIN_HEAD_BYTES)) : length;
}

/** Whether the message of a frame ends with it. */
export function isFinal(head: Buffer): boolean {
  return ((head[0] as number) & FINAL_BIT) !== 0;
}

export function readKind(head: Buffer): FrameKind {
  const first = head[0] as number;
  const second = head[1] as number;
  if ((first & RESERVED_BITS) !== 0 || second < MASKED_BIT) return 'invalid';
  const opcode = first & OPCODE_BITS;
  if (opcode === CONTINUATION) return 'continuation';
  if (opcode === TEXT) return 'text';
  if (opcode === BINARY) return 'binary';
  const isWhole = isFinal(head) && (second & LENGTH_BITS) < LENGTH_OF_16_BITS;
  if (opcode < CLOSE || opcode > PONG || !isWhole) return 'invalid';
  return opcode === CLOSE ? 'close' : 'control';
}
