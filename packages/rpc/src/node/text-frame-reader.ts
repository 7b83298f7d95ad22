import { isUtf8 } from 'node:buffer';
import { KEPT_MESSAGE_BYTES } from '../transport.js';
import { spareBuffers } from './spare-buffers.js';
import { unmask } from './unmask.js';

/** Most that one read takes of what is not the inside of a message yet, in bytes. */
const READ_BYTES = 256 * 1024;

/** Memory that a message gets on its mere announcement, in bytes; it gets more as it comes in. */
const FIRST_ROOM_BYTES = 4 * 1024 * 1024;

const MIN_HEAD_BYTES = 2;
const MAX_HEAD_BYTES = 14;
const MASK_KEY_BYTES = 4;
/** First byte of a text message in one frame: the last of its message, no extensions. */
const FINAL_TEXT = 0x81;
const FINAL_BIT = 0x80;
const MASKED_BIT = 0x80;
const OPCODE_BITS = 0x0f;
const FIRST_CONTROL_OPCODE = 8;
const LENGTH_BITS = 0x7f;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;

/** A text message that is no UTF-8, masked with zeros: whoever reads it ends the connection as the protocol demands. */
const INVALID_TEXT_FRAME = Buffer.from([FINAL_TEXT, MASKED_BIT | 1, 0, 0, 0, 0, 0xff]);

/** Every reader reads into this: what is in it is handed on or copied before anything else is read. */
let readBuffer: Buffer | undefined;

/** Where the contents of a stream of WebSocket frames go. */
export interface FrameOutlets {
  /** Whether a message may be delivered now: nothing that came before it is still on its way. */
  canDeliver(): boolean;
  /** One whole text message, as valid UTF-8. Up to `KEPT_MESSAGE_BYTES` the bytes are the reader's again afterwards. */
  deliver(text: Buffer): void;
  /** Frames that are anything else, to be read by somebody else, in pieces. False when no more is wanted for now. */
  passOn(bytes: Buffer): boolean;
}

/**
 * Reads text messages that come in one masked frame, which is what clients send, and passes everything else on as it is:
 * control frames, fragments, whatever is against the protocol. So it has no rules to enforce but where a frame ends.
 *
 * A long message is read into its own memory at once, and that memory is used again. Chunk by chunk from a stream it
 * would be copied, and leave twice its size behind as garbage, for which V8 marks its whole heap again and again.
 */
export class TextFrameReader {
  readonly #outlets: FrameOutlets;
  readonly #maxMessageBytes: number;
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES);
  #headBytes = 0;
  #frame: 'head' | 'text' | 'other' = 'head';
  /** Bytes of the present frame's payload that have not come yet. */
  #payloadLeft = 0;
  /** The part of a text message that has come, when it did not come at once. */
  #partial: Buffer<ArrayBuffer> | undefined;
  #partialBytes = 0;
  /** Whether a message has begun whose other fragments follow. */
  #isFragmented = false;
  /** Whether something of this read was passed on. If it broke the protocol, that is known only after this turn. */
  #hasPassedOn = false;
  #wantsMore = true;

  constructor(maxMessageBytes: number, outlets: FrameOutlets) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#outlets = outlets;
  }

  /** Where the next bytes are to be read into, before `receive` is told of them. */
  makeRoom(): Buffer {
    if (this.#partial === undefined) {
      readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES);
      return readBuffer;
    }
    if (this.#partialBytes === this.#partial.length) this.#partial = this.#grow(this.#partial);
    return this.#partial.subarray(this.#partialBytes, this.#partialBytes + this.#payloadLeft);
  }

  /** Takes so many bytes from where `makeRoom` said. Returns whether more is wanted. */
  receive(length: number): boolean {
    this.#hasPassedOn = false;
    this.#wantsMore = true;
    if (this.#partial === undefined) this.#read((readBuffer as Buffer).subarray(0, length));
    else this.#extendPartial(this.#partial, length);
    return this.#wantsMore;
  }

  #read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#frame === 'head') at = this.#readHead(chunk, at);
      else if (this.#frame === 'text') at = this.#readText(chunk, at);
      else at = this.#passPayload(chunk, at);
    }
  }

  /** Each of these returns where it stopped: at the end of the chunk, or of what it reads. */
  #readHead(chunk: Buffer, start: number): number {
    let at = start;
    while (this.#headBytes < measureHead(this.#head, this.#headBytes)) {
      if (at === chunk.length) return at;
      this.#head[this.#headBytes++] = chunk[at++] as number;
    }
    this.#beginFrame();
    return at;
  }

  #beginFrame(): void {
    const head = this.#head.subarray(0, this.#headBytes);
    const kind = head[0] as number;
    this.#payloadLeft = readLength(head);
    if (kind === FINAL_TEXT && this.#canTake(head)) {
      this.#frame = 'text';
      if (this.#payloadLeft === 0) this.#finishText(head.subarray(0, 0));
      return;
    }
    if ((kind & OPCODE_BITS) < FIRST_CONTROL_OPCODE) this.#isFragmented = (kind & FINAL_BIT) === 0;
    this.#frame = this.#payloadLeft === 0 ? 'head' : 'other';
    this.#headBytes = 0;
    this.#passOn(head);
  }

  #canTake(head: Buffer): boolean {
    const isMasked = (head[1] as number) >= MASKED_BIT;
    if (!isMasked || this.#isFragmented || this.#payloadLeft > this.#maxMessageBytes) return false;
    return !this.#hasPassedOn && this.#outlets.canDeliver();
  }

  #readText(chunk: Buffer, start: number): number {
    const end = start + this.#payloadLeft;
    if (end <= chunk.length) {
      this.#finishText(chunk.subarray(start, end));
      return end;
    }
    this.#partial = spareBuffers.take(Math.min(this.#payloadLeft, FIRST_ROOM_BYTES));
    this.#partialBytes = chunk.copy(this.#partial, 0, start);
    this.#payloadLeft -= this.#partialBytes;
    return chunk.length;
  }

  #extendPartial(partial: Buffer<ArrayBuffer>, length: number): void {
    this.#partialBytes += length;
    this.#payloadLeft -= length;
    if (this.#payloadLeft > 0) return;
    this.#partial = undefined;
    this.#finishText(partial.subarray(0, this.#partialBytes));
    // Longer ones are whoever's they were delivered to.
    if (this.#partialBytes <= KEPT_MESSAGE_BYTES) spareBuffers.give(partial);
  }

  #grow(partial: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    const grown = spareBuffers.take(Math.min(partial.length * 2, partial.length + this.#payloadLeft));
    partial.copy(grown);
    spareBuffers.give(partial);
    return grown;
  }

  #finishText(payload: Buffer): void {
    unmask(payload, this.#head.subarray(this.#headBytes - MASK_KEY_BYTES, this.#headBytes));
    this.#frame = 'head';
    this.#headBytes = 0;
    if (isUtf8(payload)) this.#outlets.deliver(payload);
    else this.#passOn(INVALID_TEXT_FRAME);
  }

  #passPayload(chunk: Buffer, start: number): number {
    const piece = chunk.subarray(start, start + this.#payloadLeft);
    this.#payloadLeft -= piece.length;
    if (this.#payloadLeft === 0) this.#frame = 'head';
    this.#passOn(piece);
    return start + piece.length;
  }

  #passOn(bytes: Buffer): void {
    this.#hasPassedOn = true;
    this.#wantsMore = this.#outlets.passOn(Buffer.from(bytes));
  }
}

/** How long a head is, by as much of it as there is. */
function measureHead(head: Buffer, bytes: number): number {
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

function readLength(head: Buffer): number {
  const length = (head[1] as number) & LENGTH_BITS;
  if (length === LENGTH_OF_16_BITS) return head.readUInt16BE(MIN_HEAD_BYTES);
  // Lengths that a number cannot hold exactly are far beyond any limit.
  return length === LENGTH_OF_64_BITS ? Number(head.readBigUInt64BE(MIN_HEAD_BYTES)) : length;
}
