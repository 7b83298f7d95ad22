import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import type { HttpBody } from './http-body.js';

/** Bytes that one read takes at most. */
const READ_BYTES = 256 * 1024;

/** Bodies from this length on, in bytes, are worth to be read past Node's parser. */
export const DIRECT_BODY_BYTES = 64 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** As many bytes of the end of a head as may come in another read than its last one. */
const HEAD_END_REST_BYTES = 2;

/** Every connection reads into this: what is read is handed on or copied before anything else is read. */
let readBuffer: Buffer | undefined;

/**
 * An unencrypted connection for one request. Node's parser is given everything, but stops at the end of a head for a
 * moment, in which a body of known length may be asked for: it is then read past the parser, which would copy every piece
 * into fresh memory, as a socket does. That memory costs more than all the rest of handing a body on.
 */
export class PlainConnection extends Duplex {
  readonly #socket: Socket;
  #stage: 'head' | 'parsed' | 'direct' = 'head';
  /** The last bytes of a head that is not whole, in case its end is cut in two. */
  #headTail = Buffer.alloc(0);
  /** What came behind a head and was not handed on yet; nothing is read meanwhile. */
  #held: Buffer | undefined;
  #bodyBytesLeft = 0;
  #take: ((bytes: Buffer) => void) | undefined;
  #paused = false;
  #ended = false;

  constructor(target: TcpNetConnectOpts) {
    super();
    readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES);
    this.#socket = connect({
      ...target,
      onread: {
        buffer: readBuffer,
        callback: (length, buffer) => this.#receive(Buffer.from(buffer.buffer, buffer.byteOffset, length)),
      },
    });
    this.#socket.on('connect', () => this.emit('connect'));
    this.#socket.on('end', () => this.#end());
    this.#socket.on('error', (error) => this.destroy(error));
    this.#socket.on('close', () => {
      // After a proper end the parser may still have to read what came before it.
      if (!this.#ended) this.destroy();
    });
  }

  /** To be called when the parser has read the head of the final response: nothing is looked for any more. */
  passBodyOn(): void {
    this.#stage = 'parsed';
  }

  /** To be called instead, as soon as the parser has read the head: takes the body, so many bytes, away from it. */
  takeBody(length: number): HttpBody | undefined {
    // Held back is what follows the head; without that the parser has some of the body already.
    if (this.#held === undefined) return undefined;
    this.#stage = 'direct';
    this.#bodyBytesLeft = length;
    return {
      read: (take) => this.#readBody(take),
      pause: () => {
        this.#paused = true;
        this.#socket.pause();
      },
      resume: () => {
        this.#paused = false;
        this.#releaseHeld();
      },
    };
  }

  override _read(): void {
    if (this.#held === undefined && this.#stage !== 'direct') this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  /** Returns whether to read on. */
  #receive(bytes: Buffer): boolean {
    if (this.#stage === 'direct') return this.#receiveBody(bytes);
    const headEnd = this.#stage === 'head' ? this.#findHeadEnd(bytes) : undefined;
    if (headEnd === undefined) return this.push(Buffer.from(bytes));
    this.#held = Buffer.from(bytes.subarray(headEnd));
    this.push(Buffer.from(bytes.subarray(0, headEnd)));
    // The parser has read the head by then, if it was one.
    setImmediate(() => {
      if (this.#stage !== 'direct') this.#releaseHeld();
    });
    return false;
  }

  /** Where an empty line ends, be it one in front of a head: every end that the parser might see is one of these. */
  #findHeadEnd(bytes: Buffer): number | undefined {
    const tail = this.#headTail;
    const text = tail.length === 0 ? bytes : Buffer.concat([tail, bytes]);
    for (let at = text.indexOf(LINE_FEED); at >= 0; at = text.indexOf(LINE_FEED, at + 1)) {
      const next = text[at + 1] === CARRIAGE_RETURN ? at + 2 : at + 1;
      if (text[next] !== LINE_FEED) continue;
      this.#headTail = Buffer.alloc(0);
      return next + 1 - tail.length;
    }
    this.#headTail = Buffer.from(text.subarray(-HEAD_END_REST_BYTES));
    return undefined;
  }

  #end(): void {
    this.#ended = true;
    if (this.#stage === 'direct') this.destroy();
    else this.push(null);
  }

  #releaseHeld(): void {
    const held = this.#held;
    this.#held = undefined;
    if (this.destroyed) return;
    if (held === undefined || held.length === 0 || this.#receive(held)) this.#socket.resume();
  }

  #readBody(take: (bytes: Buffer) => void): Promise<void> {
    this.#take = take;
    return new Promise((resolve, reject) => {
      const settle = () => {
        if (this.errored === null && this.#bodyBytesLeft === 0) resolve();
        else reject(this.errored ?? new Error('the body ended early'));
      };
      if (this.destroyed) {
        settle();
        return;
      }
      this.once('close', settle);
      this.#releaseHeld();
    });
  }

  #receiveBody(bytes: Buffer): boolean {
    const body = bytes.subarray(0, this.#bodyBytesLeft);
    this.#bodyBytesLeft -= body.length;
    try {
      this.#take?.(body);
    } catch (error) {
      this.destroy(error as Error);
      return false;
    }
    if (this.#bodyBytesLeft === 0) this.destroy();
    return this.#bodyBytesLeft > 0 && !this.#paused;
  }
}
