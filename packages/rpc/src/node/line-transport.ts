import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { MAX_MESSAGE_BYTES } from '@exec-server/protocol';
import { type MessageLimit, MessageTooLongError } from '../message-limit.js';
import type { CloseOptions, KeptBytes, Transport, TransportHandlers } from '../transport.js';
import { TransportOwner } from '../transport-owner.js';
import { decodeText } from './decode-text.js';
import { LineSplitter } from './line-splitter.js';
import { StreamActivity } from './stream-activity.js';
import { TickCork } from './tick-cork.js';

/** How long a closing transport waits until its queue is written and, on a socket, the other side has gone. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Options of {@link createLineTransport}. */
export interface LineTransportOptions {
  /** Where messages come from. The transport owns it from here on. */
  readonly input: Readable;
  /** Where messages go; the same object as `input` for a socket. The transport owns it from here on. */
  readonly output: Writable;
  /** Names the connection in messages to people, e.g. `exec-server stdio`. */
  readonly label: string;
  /** Longest line in bytes, newline not counted. A longer one ends the connection. @default 67108864 */
  readonly maxMessageBytes?: number;
  /** What a line that is not UTF-8 costs: the connection, or only itself through `onMalformed`. @default 'end' */
  readonly onInvalidUtf8?: 'end' | 'report';
  /**
   * What input that ends without a newline ends with: a message all the same, as when somebody pipes one in, or one that
   * broke off, as when a connection is lost.
   * @default 'message'
   */
  readonly unfinishedLine?: 'message' | 'broken';
  /** Time to write the queue and, on a socket, for the other side to go, in milliseconds. @default 5000 */
  readonly closeTimeoutMs?: number;
}

/** JSON messages, one per line, over any pair of streams: stdio, a Unix socket, a pipe. */
export function createLineTransport(options: LineTransportOptions): Transport {
  return new LineTransport(options);
}

class LineTransport implements Transport {
  readonly framing = 'lines';
  readonly label: string;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #owner = new TransportOwner();
  readonly #splitter: LineSplitter;
  readonly #endOnInvalidUtf8: boolean;
  readonly #dropsUnfinishedLine: boolean;
  readonly #closeTimeoutMs: number;
  readonly #cork: TickCork;
  readonly #activity: StreamActivity;
  #paused = false;
  /** Why the transport closes by itself; the end carries it. */
  #failure: string | undefined;
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(options: LineTransportOptions) {
    this.label = options.label;
    this.#input = options.input;
    this.#output = options.output;
    this.#cork = new TickCork(options.output);
    this.#activity = new StreamActivity(options.input, options.output);
    this.#splitter = new LineSplitter(options.maxMessageBytes ?? MAX_MESSAGE_BYTES);
    this.#endOnInvalidUtf8 = options.onInvalidUtf8 !== 'report';
    this.#dropsUnfinishedLine = options.unfinishedLine === 'broken';
    this.#closeTimeoutMs = options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS;
    // A stream without an error listener takes the process down, so these stay for good.
    for (const stream of new Set([this.#input, this.#output])) {
      stream.on('error', (error: Error) => this.#end(error.message));
    }
    this.#input.on('end', () => this.#inputEnded());
    this.#input.on('close', () => this.#streamClosed(!this.#input.readableEnded));
    this.#output.on('finish', () => this.#endWhenFlushed());
    this.#output.on('close', () => this.#streamClosed(true));
  }

  get bufferedBytes(): number {
    return this.#owner.phase === 'ended' ? 0 : this.#output.writableLength;
  }

  get heldBytes(): number {
    return this.#splitter.heldBytes;
  }

  limitMessages(limit?: MessageLimit): void {
    this.#splitter.limitLines(limit);
  }

  open(handlers: TransportHandlers): void {
    this.#owner.open(handlers);
    this.#input.on('data', (chunk: Buffer) => this.#receive(chunk));
    if (this.#paused) this.#input.pause();
  }

  send(text: string): void {
    // Encoded here because streams count a string in characters, not in bytes.
    if (this.#owner.phase === 'live') this.sendBytes(Buffer.from(`${text}\n`));
  }

  sendBytes(line: Uint8Array, onFree?: () => void): void {
    if (this.#owner.phase !== 'live') return;
    this.#cork.hold();
    if (onFree === undefined) this.#output.write(line, this.#flushed);
    else
      this.#output.write(line, (error) => {
        if (error === null || error === undefined) onFree();
        this.#flushed(error);
      });
  }

  measureActivity(untilNextMs: number): number {
    return this.#activity.measure(untilNextMs);
  }

  pause(): void {
    this.#paused = true;
    // A closing transport has to see the end of its input.
    if (this.#owner.phase === 'live') this.#input.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#owner.isPresent) this.#input.resume();
  }

  close(_options?: CloseOptions): void {
    if (!this.#owner.beginClose()) return;
    this.#splitter.drop();
    const giveUp = () => this.#end(this.#failure ?? 'connection did not close in time');
    this.#closeTimer = setTimeout(giveUp, this.#closeTimeoutMs);
    this.#closeTimer.unref();
    this.#output.end();
    // Read on into the void: a socket closed over unread input would reset and take the last messages with it.
    this.#input.resume();
    this.#endWhenFlushed();
  }

  destroy(reason: string): void {
    this.#end(reason);
  }

  readonly #flushed = (error: Error | null | undefined): void => {
    if (error === null || error === undefined) this.#owner.drained();
  };

  #receive(chunk: Buffer): void {
    this.#activity.noteReceived();
    if (this.#owner.phase !== 'live') return;
    const { heldBytes } = this;
    this.#deliverAll(this.#splitter.push(chunk));
    if (this.heldBytes !== heldBytes) this.#owner.held();
  }

  #deliverAll(lines: Iterable<Buffer>): void {
    try {
      for (const line of lines) {
        this.#deliver(line);
        if (this.#owner.phase !== 'live') return;
      }
    } catch (error) {
      if (!(error instanceof MessageTooLongError)) throw error;
      this.#fail(error.message);
    }
  }

  #deliver(line: Buffer): void {
    if (!isUtf8(line)) {
      if (this.#endOnInvalidUtf8) this.#fail('stream did not contain valid UTF-8');
      else this.#owner.malformed('invalid unicode code point');
      return;
    }
    if (this.#owner.messageBytes(line, () => this.#keep(line))) return;
    const text = decodeText(line);
    if (/\S/.test(text)) this.#owner.message(text);
  }

  #keep(line: Buffer): KeptBytes {
    const release = this.#splitter.keepLine(line);
    return {
      bytes: line,
      release: () => {
        release();
        this.#owner.held();
      },
    };
  }

  #inputEnded(): void {
    if (this.#owner.phase === 'live' && !this.#dropsUnfinishedLine) this.#deliverAll(this.#splitter.finish());
    // A socket that is not half-open ends its own output before it tells us.
    const halfOpen = this.#output.writable && this.#owner.inputEnded();
    if (!halfOpen) this.close();
    this.#endWhenFlushed();
  }

  /** Input broke a rule of the transport itself: what is queued still goes out. */
  #fail(reason: string): void {
    this.#failure ??= reason;
    this.close();
  }

  #streamClosed(early: boolean): void {
    if (early && this.#owner.phase === 'live') this.#end(undefined);
    else this.#endWhenFlushed();
  }

  #endWhenFlushed(): void {
    if (this.#owner.phase !== 'closing') return;
    const flushed = this.#output.writableFinished || this.#output.destroyed;
    const isSocket = Object.is(this.#input, this.#output);
    const gone = !isSocket || this.#input.readableEnded || this.#input.destroyed;
    if (flushed && gone) this.#end(this.#failure);
  }

  #end(reason: string | undefined): void {
    if (!this.#owner.end(reason)) return;
    clearTimeout(this.#closeTimer);
    this.#splitter.drop();
    this.#input.destroy();
    this.#output.destroy();
  }
}
