/** What a client's frame is made of. */
export interface ClientFrame {
  /** First byte, e.g. 0x81 for a text message in one frame. */
  readonly first: number;
  readonly payload: Uint8Array;
  /** Four bytes, or none for a frame without a mask. */
  readonly key?: Uint8Array | undefined;
}

export const TEXT = 0x81;
export const BINARY = 0x82;
export const PING = 0x89;
const KEY = Uint8Array.of(0x37, 0xfa, 0x21, 0x3d);

/** Masks nothing, for long payloads. */
export const ZERO_KEY = new Uint8Array(4);

export const textFrame = (text: string | Uint8Array, key = KEY): Buffer =>
  encodeClientFrame({ first: TEXT, payload: Buffer.from(text), key });

/** A frame as it goes over the wire. */
export function encodeClientFrame({ first, payload, key = KEY }: ClientFrame): Buffer {
  const { length } = payload;
  const masked = key.length > 0 ? 0x80 : 0;
  const head = Buffer.alloc(length < 126 ? 2 : length < 0x1_0000 ? 4 : 10);
  head[0] = first;
  head[1] = masked | (length < 126 ? length : length < 0x1_0000 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  const body = key.some((byte) => byte !== 0)
    ? payload.map((byte, at) => byte ^ (key[at % 4] as number))
    : payload;
  return Buffer.concat([head, key, body]);
}
