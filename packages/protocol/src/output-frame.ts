import { MalformedMessageError } from './errors.js';
import { MAX_FRAMED_ID_BYTES } from './limits.js';
import type { ReadChunk } from './schemas/process.js';

/** A piece of process output as a binary message carries it: a header, the ids, then the bytes as they are. */
export interface OutputFrame {
  readonly processId: string;
  /** The session that the process belongs to, where that is not the session of the connection. */
  readonly sessionId?: string;
  /** Number of the event; frames and notifications of one process share the count. */
  readonly seq: number;
  readonly stream: ReadChunk['stream'];
  readonly data: Uint8Array;
}

/** First byte of the frame. No JSON text begins with it. */
const OUTPUT_FRAME_TYPE = 1;

/** Where each field of the header begins, in bytes; numbers are big-endian. */
const TYPE_AT = 0;
const STREAM_AT = 1;
const PROCESS_ID_LENGTH_AT = 2;
const SESSION_ID_LENGTH_AT = 4;
const RESERVED_AT = 6;
const SEQ_HIGH_AT = 8;
const SEQ_LOW_AT = 12;
const HEADER_BYTES = 16;

/** How many values the low half of a 64-bit number has. */
const TWO_TO_THE_32 = 2 ** 32;

/** The streams by their number in the header. */
const STREAMS: readonly OutputFrame['stream'][] = ['stdout', 'stderr', 'pty'];
const STREAM_NUMBERS: Readonly<Record<OutputFrame['stream'], number>> = { stdout: 0, stderr: 1, pty: 2 };

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether an id is short enough for a frame; output of a process with a longer one travels as notifications. */
export function fitsOutputFrame(id: string): boolean {
  // A UTF-16 unit takes at least one byte, so that what is too long in units need not be encoded.
  return id.length <= MAX_FRAMED_ID_BYTES && encoder.encode(id).length <= MAX_FRAMED_ID_BYTES;
}

/** Writes the frames of one process. Its ids are encoded once. */
export class OutputFrameEncoder {
  /** Header and ids; `seq` and `stream` are filled in per frame. */
  readonly #head: Uint8Array;

  /**
   * @param sessionId told to clients that see processes of several sessions
   * @throws RangeError when an id does not fit, see {@link fitsOutputFrame}, or `sessionId` is empty
   */
  constructor(processId: string, sessionId?: string) {
    // An empty one would read as none.
    if (sessionId === '') throw new RangeError('a session id in an output frame is not empty');
    const processIdBytes = encodeId(processId);
    const sessionIdBytes = encodeId(sessionId ?? '');
    this.#head = new Uint8Array(HEADER_BYTES + processIdBytes.length + sessionIdBytes.length);
    const header = new DataView(this.#head.buffer);
    header.setUint8(TYPE_AT, OUTPUT_FRAME_TYPE);
    header.setUint16(PROCESS_ID_LENGTH_AT, processIdBytes.length);
    header.setUint16(SESSION_ID_LENGTH_AT, sessionIdBytes.length);
    this.#head.set(processIdBytes, HEADER_BYTES);
    this.#head.set(sessionIdBytes, HEADER_BYTES + processIdBytes.length);
  }

  /** @throws RangeError when `seq` is no safe integer from 0 on */
  encode(seq: number, stream: OutputFrame['stream'], data: Uint8Array): Uint8Array<ArrayBuffer> {
    const head = this.encodeHead(seq, stream);
    const frame = new Uint8Array(head.length + data.length);
    frame.set(head);
    frame.set(data, head.length);
    return frame;
  }

  /**
   * All of a frame before its data, for senders that take the two apart.
   *
   * @throws RangeError when `seq` is no safe integer from 0 on
   */
  encodeHead(seq: number, stream: OutputFrame['stream']): Uint8Array<ArrayBuffer> {
    if (!Number.isSafeInteger(seq) || seq < 0) throw new RangeError(`${seq} cannot be a sequence number`);
    const head = this.#head.slice();
    const header = new DataView(head.buffer);
    header.setUint8(STREAM_AT, STREAM_NUMBERS[stream]);
    header.setUint32(SEQ_HIGH_AT, Math.floor(seq / TWO_TO_THE_32));
    header.setUint32(SEQ_LOW_AT, seq % TWO_TO_THE_32);
    return head;
  }
}

function encodeId(id: string): Uint8Array {
  const bytes = encoder.encode(id);
  if (bytes.length > MAX_FRAMED_ID_BYTES)
    throw new RangeError(`an id of ${bytes.length} bytes does not fit into an output frame`);
  return bytes;
}

/**
 * Writes one frame; {@link OutputFrameEncoder} is quicker at many.
 *
 * @throws RangeError when an id or `seq` does not fit
 */
export function encodeOutputFrame(frame: OutputFrame): Uint8Array<ArrayBuffer> {
  return new OutputFrameEncoder(frame.processId, frame.sessionId).encode(frame.seq, frame.stream, frame.data);
}

/**
 * Reads one frame. `data` is a view of `bytes`, not a copy.
 *
 * @throws MalformedMessageError
 */
export function decodeOutputFrame(bytes: Uint8Array): OutputFrame {
  if (bytes.length < HEADER_BYTES)
    throw malformed(`${bytes.length} bytes are less than its header of ${HEADER_BYTES}`);
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const type = header.getUint8(TYPE_AT);
  if (type !== OUTPUT_FRAME_TYPE) throw malformed(`unknown type ${type}`);
  const stream = STREAMS[header.getUint8(STREAM_AT)];
  if (stream === undefined) throw malformed(`unknown stream ${header.getUint8(STREAM_AT)}`);
  const reserved = header.getUint16(RESERVED_AT);
  if (reserved !== 0) throw malformed(`reserved field is ${reserved}, expected 0`);
  const seq = header.getUint32(SEQ_HIGH_AT) * TWO_TO_THE_32 + header.getUint32(SEQ_LOW_AT);
  if (!Number.isSafeInteger(seq)) throw malformed('sequence number beyond 2^53');
  const sessionIdAt = HEADER_BYTES + header.getUint16(PROCESS_ID_LENGTH_AT);
  const dataAt = sessionIdAt + header.getUint16(SESSION_ID_LENGTH_AT);
  if (dataAt > bytes.length) throw malformed(`${bytes.length} bytes end before its ids at ${dataAt}`);
  const processId = decodeId(bytes.subarray(HEADER_BYTES, sessionIdAt));
  const data = bytes.subarray(dataAt);
  if (dataAt === sessionIdAt) return { processId, seq, stream, data };
  return { processId, sessionId: decodeId(bytes.subarray(sessionIdAt, dataAt)), seq, stream, data };
}

function decodeId(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes);
  } catch (error) {
    throw malformed('an id is not UTF-8', error);
  }
}

function malformed(detail: string, cause?: unknown): MalformedMessageError {
  return new MalformedMessageError(`output frame: ${detail}`, cause === undefined ? {} : { cause });
}
