import { isUtf8 } from 'node:buffer';
import { type MessageLimit, MessageTooLongError } from '../message-limit.js';
import type { KeptBytes } from '../transport.js';
import {
  isFinal,
  MASK_KEY_BYTES,
  MAX_HEAD_BYTES,
  measureHead,
  readKind,
  readPayloadLength,
} from './frame-head.js';
import { PartialMessage } from './partial-message.js';
import { unmask } from './unmask.js';

/** Most that one read takes of what is not the inside of a message yet, in bytes. */
const READ_BYTES = 256 * 1024;

const NOTHING = Buffer.alloc(0);

/** A text message that is no UTF-8, masked with zeros: whoever reads it ends the connection as the protocol demands. */
const INVALID_TEXT_FRAME = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]);

/** The beginning of a text message that goes on, with nothing in it yet. */
const BEGINNING_FRAME = Buffer.from([0x01, 0x80, 0, 0, 0, 0]);

/** Every reader reads into this: what is in it is handed on or copied before anything else is read. */
let readBuffer: Buffer | undefined;

/** Where the contents of a stream of WebSocket frames go. */
export interface MessageOutlets {
  /** False while what follows has to wait, until `proceed`. */
  isReady(): boolean;
  /** One whole message. The bytes, valid UTF-8 unless it is binary, are the reader's again afterwards, unless they are kept. */
  deliver(message: Buffer, isBinary: boolean): void;
  /** Control frames, and whatever breaks the protocol, for somebody else to read. False when no more is wanted for now. */
  passOn(bytes: Buffer): boolean;
  /** A message is too long. Nothing that follows is read any more. */
  refuse(error: MessageTooLongError): void;
}

/**
 * Reads the messages of a client, in one frame or in several, into memory of their own, which is used again. Frames that
 * carry no message are passed on as they are; so is the head of the first frame that breaks the protocol, and nothing
 * after it.
 *
 * All that is held of a message before it is whole is held here, so that it can be counted, bounded and let go of. Read
 * chunk by chunk from a stream a long message would be copied, and leave twice its size behind as garbage, for which V8
 * marks its whole heap again and again.
 */
export class MessageReader {
  /** Called when `heldBytes` has changed. */
  onHeld: () => void = () => {};
  readonly #outlets: MessageOutlets;
  readonly #ownLimit: MessageLimit;
  #limit: MessageLimit;
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES);
  #headBytes = 0;
  #frame: 'head' | 'message' | 'dropped' | 'control' = 'head';
  /** Bytes of the present frame's payload that have not come yet, and all of them. */
  #payloadLeft = 0;
  #payloadBytes = 0;
  #isFinal = false;
  /** What the message is whose frames are being read. */
  #kind: 'text' | 'binary' | undefined;
  readonly #partial = new PartialMessage();
  /** What was read and has to wait. */
  #waiting: Buffer | undefined;
  /** Whether the memory that was asked for last is that of the message. */
  #readsIntoPartial = false;
  /** Whether what follows is thrown away: after a close frame, and after what broke the protocol. */
  #isOver = false;
  #takesMessages = true;
  #wantsMore = true;
  #toldBytes = 0;
  /** Gives back the memory of the message that is being delivered, where it has some of its own. */
  #release: (() => void) | undefined;
  #keptBytes = 0;

  constructor(limit: MessageLimit, outlets: MessageOutlets) {
    this.#ownLimit = limit;
    this.#limit = limit;
    this.#outlets = outlets;
  }

  /** Memory that is held for what is not a whole message yet, for what has to wait and for what is kept, in bytes. */
  get heldBytes(): number {
    return this.#partial.heldBytes + (this.#waiting?.length ?? 0) + this.#keptBytes;
  }

  /** Has the message that is being delivered be the receiver's until it is released. */
  keep(message: Buffer): KeptBytes {
    const release = this.#release;
    this.#release = undefined;
    // What was not gathered is where the next read goes.
    const bytes = release === undefined ? Buffer.from(message) : message;
    this.#keptBytes += bytes.length;
    this.#tellHeld();
    return {
      bytes,
      release: () => {
        this.#keptBytes -= bytes.length;
        release?.();
        this.#tellHeld();
      },
    };
  }

  /** Sets another limit for messages that follow; without one that of the constructor holds again. */
  limitMessages(limit: MessageLimit = this.#ownLimit): void {
    this.#limit = limit;
  }

  /** Where the next bytes are to be read into, before `receive` is told of them. */
  makeRoom(): Buffer {
    this.#readsIntoPartial = this.#frame === 'message' && this.#partial.capacity > 0;
    if (this.#readsIntoPartial) {
      const room = this.#partial.makeRoom(this.#payloadLeft, this.#mostBytes);
      this.#tellHeld();
      return room;
    }
    // Whoever reads still reads into the memory of before, until it has this.
    if (this.#partial.hasRetired) setImmediate(() => this.#partial.releaseRetired());
    readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES);
    return readBuffer;
  }

  /** Takes so many bytes from where `makeRoom` said. Returns whether more is wanted. */
  receive(length: number): boolean {
    this.#wantsMore = true;
    if (this.#isOver) return true;
    if (this.#readsIntoPartial) this.#takePayload(length);
    else this.#consume((readBuffer as Buffer).subarray(0, length));
    return this.#wantsMore;
  }

  /** Takes bytes that somebody else has read; their memory is changed. Returns whether more is wanted. */
  push(chunk: Buffer): boolean {
    this.#wantsMore = true;
    this.#partial.releaseRetired();
    if (!this.#isOver) this.#consume(chunk);
    return this.#wantsMore;
  }

  /** Goes on with what had to wait, if it need not any more. */
  proceed(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || !this.#outlets.isReady()) return;
    this.#waiting = undefined;
    this.#consume(waiting);
    this.#tellHeld();
  }

  /** Takes no more messages: lets go of what is not whole yet, and drops what follows as it comes in. */
  drop(): void {
    this.#takesMessages = false;
    this.#partial.retire();
    if (this.#frame === 'message') this.#frame = 'dropped';
    const waiting = this.#waiting;
    this.#waiting = undefined;
    // There may be control frames in it, and it ends in the middle of a frame.
    if (waiting !== undefined && !this.#isOver) this.#consume(waiting);
    this.#tellHeld();
  }

  /** Lets go of everything. Nobody reads into memory of the reader any more. */
  dispose(): void {
    this.#isOver = true;
    this.drop();
    this.#partial.releaseRetired();
  }

  /** How long the present message can become at most, in bytes. */
  get #mostBytes(): number {
    return this.#isFinal ? this.#partial.length + this.#payloadLeft : this.#limit.bytes;
  }

  #consume(chunk: Buffer): void {
    if (this.#waiting !== undefined) {
      this.#wait(Buffer.concat([this.#waiting, chunk]));
      return;
    }
    let at = 0;
    while (at < chunk.length && !this.#isOver) {
      if (this.#frame === 'head') {
        if (this.#headBytes === 0 && this.#takesMessages && !this.#outlets.isReady()) {
          this.#wait(Buffer.from(chunk.subarray(at)));
          return;
        }
        at = this.#readHead(chunk, at);
      } else at = this.#readPayload(chunk, at);
    }
  }

  #wait(bytes: Buffer): void {
    this.#waiting = bytes;
    this.#tellHeld();
  }

  /** Each of these returns where it stopped: at the end of the chunk, or of what it reads. */
  #readHead(chunk: Buffer, start: number): number {
    let at = start;
    while (this.#headBytes < measureHead(this.#head, this.#headBytes)) {
      if (at === chunk.length) return at;
      this.#head[this.#headBytes++] = chunk[at++] as number;
    }
    this.#beginFrame(this.#head.subarray(0, this.#headBytes));
    return at;
  }

  #beginFrame(head: Buffer): void {
    const kind = readKind(head);
    this.#payloadBytes = readPayloadLength(head);
    this.#payloadLeft = this.#payloadBytes;
    if (kind === 'close' || kind === 'control') {
      this.#frame = 'control';
      this.#passOn(head);
    } else if (kind === 'invalid' || (kind === 'continuation') !== (this.#kind !== undefined)) {
      this.#breakOff(head);
      return;
    } else {
      if (kind !== 'continuation') this.#kind = kind;
      this.#isFinal = isFinal(head);
      this.#frame = this.#takesMessages ? 'message' : 'dropped';
      if (this.#frame === 'message' && this.#partial.length + this.#payloadLeft > this.#limit.bytes) {
        this.#over();
        this.#outlets.refuse(new MessageTooLongError('message', this.#limit));
        return;
      }
    }
    if (this.#payloadLeft === 0) this.#endFrame();
  }

  #readPayload(chunk: Buffer, start: number): number {
    const piece = chunk.subarray(start, start + this.#payloadLeft);
    const isWhole = piece.length === this.#payloadBytes;
    if (this.#frame === 'control') this.#passOn(piece);
    else if (this.#frame === 'message') {
      const isAlone = isWhole && this.#isFinal && this.#partial.length === 0;
      this.#unmask(isAlone ? piece : this.#partial.append(piece, this.#mostBytes));
      this.#tellHeld();
    }
    this.#payloadLeft -= piece.length;
    if (this.#payloadLeft === 0) this.#endFrame(piece);
    return start + piece.length;
  }

  /** Takes payload that was read into the memory of the message, which may have been let go of meanwhile. */
  #takePayload(length: number): void {
    if (this.#frame === 'message') this.#unmask(this.#partial.extend(length));
    this.#payloadLeft -= length;
    if (this.#payloadLeft === 0) this.#endFrame();
  }

  #unmask(payload: Buffer): void {
    unmask(payload, this.#key(this.#payloadBytes - this.#payloadLeft));
  }

  /** The key of the present frame as it is at that place of the payload. */
  #key(at: number): Buffer {
    const key = this.#head.subarray(this.#headBytes - MASK_KEY_BYTES, this.#headBytes);
    const turn = at % MASK_KEY_BYTES;
    return turn === 0 ? key : Buffer.concat([key.subarray(turn), key.subarray(0, turn)]);
  }

  /** @param payload what is the whole message, where none of it is in the memory of the message */
  #endFrame(payload: Buffer = NOTHING): void {
    const frame = this.#frame;
    const isClose = frame === 'control' && readKind(this.#head) === 'close';
    this.#frame = 'head';
    this.#headBytes = 0;
    if (isClose) this.#over();
    if (frame === 'control' || !this.#isFinal) return;
    const isBinary = this.#kind === 'binary';
    this.#kind = undefined;
    if (frame === 'dropped') return;
    if (this.#partial.length === 0) this.#deliver(payload, isBinary);
    else {
      const { message, release } = this.#partial.take();
      this.#release = release;
      this.#deliver(message, isBinary);
      this.#release?.();
      this.#release = undefined;
      this.#tellHeld();
    }
  }

  #deliver(message: Buffer, isBinary: boolean): void {
    if (isBinary || isUtf8(message)) this.#outlets.deliver(message, isBinary);
    else {
      this.#over();
      this.#passOn(INVALID_TEXT_FRAME);
    }
  }

  /** Hands a head that breaks the protocol to who knows what that costs, in the state that it breaks it in. */
  #breakOff(head: Buffer): void {
    const isInMessage = this.#kind !== undefined;
    this.#over();
    this.#passOn(isInMessage ? Buffer.concat([BEGINNING_FRAME, head]) : head);
  }

  #over(): void {
    this.#isOver = true;
    this.drop();
  }

  #tellHeld(): void {
    if (this.heldBytes === this.#toldBytes) return;
    this.#toldBytes = this.heldBytes;
    this.onHeld();
  }

  #passOn(bytes: Buffer): void {
    this.#wantsMore = this.#outlets.passOn(Buffer.from(bytes));
  }
}
