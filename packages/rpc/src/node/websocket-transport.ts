import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { MAX_FRAME_BYTES } from '@exec-server/protocol';
import type { RawData, WebSocket } from 'ws';
import { describeClose, fitCloseReason } from '../close-reason.js';
import { joinBytes } from '../join-bytes.js';
import type { MessageLimit } from '../message-limit.js';
import type { CloseOptions, KeptBytes, Transport, TransportHandlers } from '../transport.js';
import { TransportOwner } from '../transport-owner.js';
import { decodeText } from './decode-text.js';
import { FrameQueue, type OutboundFrame, type SentCallback } from './frame-queue.js';
import type { InboundMessages } from './read-messages.js';
import { StreamActivity } from './stream-activity.js';
import { TickCork } from './tick-cork.js';
import { frameBinaryMessage } from './websocket-frame.js';

/** How long the other side has to answer our close frame, or to go away after it broke the protocol. */
const CLOSE_TIMEOUT_MS = 5_000;

const NEWLINE_BYTES = 1;
const ABNORMAL_CLOSURE = 1006;

/** Options of {@link createWebSocketTransport}. */
export interface WebSocketTransportOptions {
  /** Names the connection in messages to people, e.g. `exec-server websocket 127.0.0.1:4242`. */
  readonly label: string;
  /**
   * The connection below. With it a reset or a timeout of the network is told as the reason of the end, where `ws` itself
   * reports a plain end of the connection; and messages that are sent together leave together.
   */
  readonly stream?: Duplex;
  /**
   * Which side of the connection this is. A server masks nothing, so that with `stream` both parts of a binary message go
   * out as they are, without a copy. @default 'client'
   */
  readonly role?: 'client' | 'server';
  /** What reads the messages before the socket does. @default the socket reads them, and holds what is not whole yet */
  readonly inbound?: InboundMessages;
  /** Longest frame sent, in bytes; a longer message goes out in several. @default 16777216 */
  readonly maxFrameBytes?: number;
  /** Time for the other side to complete the close, in milliseconds. @default 5000 */
  readonly closeTimeoutMs?: number;
}

/** One JSON message per text message, and binary messages, over an open socket of the `ws` package. */
export function createWebSocketTransport(socket: WebSocket, options: WebSocketTransportOptions): Transport {
  return new WebSocketTransport(socket, options);
}

class WebSocketTransport implements Transport {
  readonly framing = 'websocket';
  readonly label: string;
  readonly #socket: WebSocket;
  readonly #maxFrameBytes: number;
  readonly #closeTimeoutMs: number;
  readonly #owner = new TransportOwner();
  readonly #frames: FrameQueue;
  readonly #inbound: InboundMessages | undefined;
  /** Where messages in two parts are written to, past the socket, which takes one part only. */
  readonly #gatherInto: Duplex | undefined;
  readonly #activity: StreamActivity | undefined;
  /** Messages, pings and pongs, where no stream counts bytes. */
  #heardCount = 0;
  #paused = false;
  /** What went wrong before the end. */
  #failure: string | undefined;
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, options: WebSocketTransportOptions) {
    if (socket.readyState !== socket.OPEN) throw new Error('websocket is not open');
    this.label = options.label;
    this.#socket = socket;
    this.#maxFrameBytes = options.maxFrameBytes ?? MAX_FRAME_BYTES;
    this.#closeTimeoutMs = options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS;
    const { stream, inbound } = options;
    this.#inbound = inbound;
    if (inbound !== undefined) inbound.onHeld = () => this.#owner.held();
    const cork = stream === undefined ? undefined : new TickCork(stream);
    // A socket that compresses may still hold frames that were sent before.
    const gathers = options.role === 'server' && socket.extensions === '';
    this.#gatherInto = gathers ? stream : undefined;
    this.#activity = stream && new StreamActivity(stream, stream);
    this.#frames = new FrameQueue(
      (frame, onSent) => {
        cork?.hold();
        this.#write(frame, onSent);
      },
      () => this.#owner.drained(),
    );
    socket.binaryType = 'nodebuffer';
    // Nothing is read until somebody is there to take it.
    socket.pause();
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('error', (error) => this.#broken(error));
    socket.on('close', (code, reason) => this.#closed(code, reason.toString('utf8')));
    if (stream === undefined) this.#countWhatIsHeard(socket);
    stream?.on('error', (error: Error) => this.#note(error.message));
  }

  get bufferedBytes(): number {
    return this.#owner.phase === 'ended' ? 0 : this.#frames.bytes;
  }

  get heldBytes(): number {
    return this.#inbound?.heldBytes ?? 0;
  }

  limitMessages(limit?: MessageLimit): void {
    this.#inbound?.limitMessages(limit);
  }

  open(handlers: TransportHandlers): void {
    this.#owner.open(handlers);
    if (!this.#paused) this.#socket.resume();
  }

  send(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#maxFrameBytes) this.#sendMessage(Buffer.from(text), false);
    else this.#sendFrame({ data: text, bytes, binary: false, fin: true });
  }

  sendBytes(line: Uint8Array, onFree?: () => void): void {
    this.#sendMessage(line.subarray(0, line.length - NEWLINE_BYTES), false, onFree);
  }

  sendBinary(frame: Uint8Array, rest?: Uint8Array, onFree?: () => void): void {
    const bytes = frame.length + (rest?.length ?? 0);
    if (rest === undefined) {
      this.#sendMessage(frame, true);
    } else if (this.#gatherInto === undefined || bytes > this.#maxFrameBytes) {
      this.#sendMessage(joinBytes(frame, rest), true);
      onFree?.();
    } else {
      this.#sendFrame({ data: frame, rest, bytes, binary: true, fin: true, onWritten: onFree });
    }
  }

  ping(): void {
    if (this.#owner.phase === 'live' && this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  measureActivity(untilNextMs: number): number {
    return this.#heardCount + (this.#activity?.measure(untilNextMs) ?? 0);
  }

  pause(): void {
    this.#paused = true;
    // A closing transport has to see the answer to its close frame.
    if (this.#owner.phase === 'live') this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#owner.isPresent) this.#socket.resume();
  }

  close({ code = 1000, reason = '' }: CloseOptions = {}): void {
    if (!this.#owner.beginClose()) return;
    this.#frames.flush();
    this.#socket.close(code, fitCloseReason(reason));
    this.#inbound?.drop();
    this.#terminateLater('close frame was not answered in time');
    this.#socket.resume();
  }

  destroy(reason: string): void {
    if (!this.#owner.end(reason)) return;
    clearTimeout(this.#closeTimer);
    this.#socket.terminate();
  }

  #countWhatIsHeard(socket: WebSocket): void {
    for (const event of ['message', 'ping', 'pong'] as const) {
      socket.on(event, () => {
        this.#heardCount++;
      });
    }
  }

  #sendMessage(message: Uint8Array, binary: boolean, onWritten?: () => void): void {
    let start = 0;
    do {
      const frame = message.subarray(start, start + this.#maxFrameBytes);
      start += frame.length;
      const fin = start === message.length;
      this.#sendFrame({ data: frame, bytes: frame.length, binary, fin, ...(fin && { onWritten }) });
    } while (start < message.length);
  }

  #sendFrame(frame: OutboundFrame): void {
    if (this.#owner.phase !== 'live' || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#frames.push(frame);
  }

  #write(frame: OutboundFrame, onSent: SentCallback): void {
    const { data, rest, binary, fin } = frame;
    if (rest === undefined || typeof data === 'string') {
      this.#socket.send(data, { binary, fin }, onSent);
    } else if (this.#socket.readyState === this.#socket.OPEN && this.#gatherInto !== undefined) {
      this.#gatherInto.write(frameBinaryMessage(data, frame.bytes));
      this.#gatherInto.write(rest, onSent);
    } else {
      // Nothing follows a close frame.
      process.nextTick(onSent);
    }
  }

  #receive(data: RawData, isBinary: boolean): void {
    const bytes = toBuffer(data);
    // Text frames were checked by the socket, which ends the connection over bad ones.
    if (isBinary && (this.#owner.takesBinary || !isUtf8(bytes)))
      this.#owner.binary(this.#inbound === undefined ? bytes : Buffer.from(bytes));
    else if (!this.#owner.messageBytes(bytes, () => this.#keep(bytes)))
      this.#owner.message(decodeText(bytes));
  }

  #keep(bytes: Buffer): KeptBytes {
    return this.#inbound?.keep(bytes) ?? { bytes, release() {} };
  }

  /** The other side broke the protocol; the socket has sent its close frame and reads on into the void. */
  #broken(error: Error): void {
    // Told at once: the other side may have seen its end already, and come back while we still read what it sent.
    this.#owner.end(error.message);
    this.#inbound?.drop();
    this.#terminateLater(error.message);
  }

  #note(failure: string): void {
    this.#failure ??= failure;
  }

  #terminateLater(failure: string): void {
    if (this.#closeTimer !== undefined) return;
    this.#closeTimer = setTimeout(() => {
      this.#note(failure);
      this.#socket.terminate();
    }, this.#closeTimeoutMs);
    this.#closeTimer.unref();
  }

  #closed(code: number, reason: string): void {
    clearTimeout(this.#closeTimer);
    // Our own code comes back as an echo, and peers that just close their TCP connection are common: both are clean.
    const clean = this.#owner.phase === 'closing' || code === ABNORMAL_CLOSURE;
    const described = clean ? undefined : describeClose(code, reason);
    this.#owner.end(this.#failure ?? described);
  }
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
