import { decodeOutputFrame } from '@exec-server/protocol';
import type { WireMessage } from './inbox.js';

/** A piece of a connection that passes as a whole: a handshake, a frame, a line. */
export interface WireUnit {
  /** As it travels. */
  readonly bytes: Buffer;
  /** What it says; absent from handshakes and control frames. */
  readonly message: WireMessage | undefined;
}

/** Cuts the bytes of one direction into units. */
export interface WireSplitter {
  /** The units that are complete with `chunk`. */
  push(chunk: Buffer): WireUnit[];
}

const END_OF_HEADERS = '\r\n\r\n';
const NEWLINE = 0x0a;
const OPCODE_TEXT = 1;
const OPCODE_BINARY = 2;
const MASK_BYTES = 4;
/** Values of the short length that stand for a longer one behind it. */
const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;

/** Finds a unit at the start of the bytes; undefined while it is not complete. */
type FindUnit = (bytes: Buffer) => WireUnit | undefined;

/** The handshake, then frames. Masked or not; compression is not known to it. */
export function createWebSocketSplitter(): WireSplitter {
  let find: FindUnit = (bytes) => {
    const end = bytes.indexOf(END_OF_HEADERS);
    if (end < 0) return undefined;
    find = findFrame;
    return { bytes: bytes.subarray(0, end + END_OF_HEADERS.length), message: undefined };
  };
  return createSplitter((bytes) => find(bytes));
}

/** Lines of JSON. */
export function createLineUnitSplitter(): WireSplitter {
  return createSplitter((bytes) => {
    const end = bytes.indexOf(NEWLINE);
    if (end < 0) return undefined;
    return { bytes: bytes.subarray(0, end + 1), message: parseText(bytes.subarray(0, end)) };
  });
}

function createSplitter(find: FindUnit): WireSplitter {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const units: WireUnit[] = [];
      for (let unit = find(rest); unit !== undefined; unit = find(rest)) {
        units.push(unit);
        rest = rest.subarray(unit.bytes.length);
      }
      return units;
    },
  };
}

function findFrame(bytes: Buffer): WireUnit | undefined {
  if (bytes.length < 2) return undefined;
  const opcode = bytes.readUInt8(0) & 0x0f;
  const isMasked = (bytes.readUInt8(1) & 0x80) !== 0;
  const shortLength = bytes.readUInt8(1) & 0x7f;
  const lengthBytes = shortLength === LENGTH_IN_64_BITS ? 8 : shortLength === LENGTH_IN_16_BITS ? 2 : 0;
  const payloadAt = 2 + lengthBytes + (isMasked ? MASK_BYTES : 0);
  if (bytes.length < payloadAt) return undefined;
  const end = payloadAt + readLength(bytes, shortLength);
  if (bytes.length < end) return undefined;
  const payload = bytes.subarray(payloadAt, end);
  const plain = isMasked ? unmask(payload, bytes.subarray(payloadAt - MASK_BYTES, payloadAt)) : payload;
  return { bytes: bytes.subarray(0, end), message: parsePayload(opcode, plain) };
}

function readLength(frame: Buffer, shortLength: number): number {
  if (shortLength === LENGTH_IN_64_BITS) return Number(frame.readBigUInt64BE(2));
  return shortLength === LENGTH_IN_16_BITS ? frame.readUInt16BE(2) : shortLength;
}

function unmask(payload: Buffer, mask: Buffer): Buffer {
  return Buffer.from(payload.map((byte, index) => byte ^ (mask[index % MASK_BYTES] ?? 0)));
}

function parsePayload(opcode: number, payload: Buffer): WireMessage | undefined {
  if (opcode === OPCODE_TEXT) return parseText(payload);
  if (opcode !== OPCODE_BINARY) return undefined;
  const { data: _bytes, ...params } = decodeOutputFrame(payload);
  return { method: 'process/output', params };
}

function parseText(text: Buffer): WireMessage | undefined {
  try {
    return JSON.parse(text.toString('utf8')) as WireMessage;
  } catch {
    // Garbage passes as it is: what it means is for the receiver to find out.
    return undefined;
  }
}
