import { MAX_MESSAGE_BYTES } from '@exec-server/protocol';
import { describeClose, fitCloseReason } from './close-reason.js';
import { joinBytes } from './join-bytes.js';
import type { CloseOptions, Transport, TransportHandlers } from './transport.js';
import { TransportOwner } from './transport-owner.js';

/** How often the queue is looked at while it holds anything; browsers tell nobody when it drains. */
const DRAIN_POLL_MS = 16;

/** UTF-16 units of text and bytes held while paused; a browser socket cannot be told to stop reading. */
const MAX_HELD_UNITS = MAX_MESSAGE_BYTES;

const NEWLINE_BYTES = 1;
const ABNORMAL_CLOSURE = 1006;
const lenientDecoder = new TextDecoder();

/** Options of {@link createBrowserWebSocketTransport}. */
export interface BrowserWebSocketTransportOptions {
  /** Names the connection in messages to people. */
  readonly label: string;
}

/**
 * A transport over an open socket of the global `WebSocket` class. What a paused owner does not take is held up to
 * 64 MiB; beyond that the connection ends.
 */
export function createBrowserWebSocketTransport(
  socket: WebSocket,
  options: BrowserWebSocketTransportOptions,
): Transport {
  return new BrowserWebSocketTransport(socket, options);
}

class BrowserWebSocketTransport implements Transport {
  readonly framing = 'websocket';
  readonly label: string;
  readonly #socket: WebSocket;
  readonly #owner = new TransportOwner();
  #held: (string | Uint8Array<ArrayBuffer>)[] = [];
  #heldUnits = 0;
  #paused = false;
  #failed = false;
  #drainTimer: ReturnType<typeof setTimeout> | undefined;
  /** Messages that came, and looks at the queue that found it shorter or longer. */
  #activityCount = 0;
  #lastQueuedBytes = 0;

  constructor(socket: WebSocket, options: BrowserWebSocketTransportOptions) {
    if (socket.readyState !== socket.OPEN) throw new Error('websocket is not open');
    this.label = options.label;
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', (event: MessageEvent<string | ArrayBuffer>) =>
      this.#receive(event.data),
    );
    socket.addEventListener('error', () => {
      this.#failed = true;
    });
    socket.addEventListener('close', (event) => this.#closed(event.code, event.reason));
  }

  get bufferedBytes(): number {
    return this.#owner.phase === 'ended' ? 0 : this.#socket.bufferedAmount;
  }

  open(handlers: TransportHandlers): void {
    this.#owner.open(handlers);
    queueMicrotask(() => this.#deliverHeld());
  }

  send(text: string): void {
    if (this.#owner.phase !== 'live') return;
    this.#socket.send(text);
    this.#watchDrain();
  }

  sendBytes(line: Uint8Array): void {
    this.send(lenientDecoder.decode(line.subarray(0, line.length - NEWLINE_BYTES)));
  }

  sendBinary(frame: Uint8Array, rest?: Uint8Array, onFree?: () => void): void {
    if (this.#owner.phase !== 'live') return;
    const message = rest === undefined ? frame : joinBytes(frame, rest);
    // Memory shared between threads is all that a browser would refuse, and no frame is made in such.
    this.#socket.send(message as Uint8Array<ArrayBuffer>);
    onFree?.();
    this.#watchDrain();
  }

  /** A browser shows neither pongs nor a part of a message; the next message, or a queue that moves, is all there is. */
  measureActivity(): number {
    const queuedBytes = this.bufferedBytes;
    if (queuedBytes > 0 && queuedBytes !== this.#lastQueuedBytes) this.#activityCount++;
    this.#lastQueuedBytes = queuedBytes;
    return this.#activityCount;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#deliverHeld());
  }

  close({ code = 1000, reason = '' }: CloseOptions = {}): void {
    if (this.#owner.beginClose()) this.#socket.close(code, fitCloseReason(reason));
  }

  destroy(reason: string): void {
    if (!this.#owner.end(reason)) return;
    this.#release();
    this.#socket.close();
  }

  #receive(data: string | ArrayBuffer): void {
    if (this.#owner.phase !== 'live') return;
    this.#activityCount++;
    const message = typeof data === 'string' ? data : new Uint8Array(data);
    if (this.#owner.isPresent && !this.#paused && this.#held.length === 0) {
      this.#deliver(message);
      return;
    }
    this.#held.push(message);
    this.#heldUnits += message.length;
    if (this.#heldUnits > MAX_HELD_UNITS) this.destroy('more than 64 MiB arrived while paused');
  }

  #deliverHeld(): void {
    if (!this.#owner.isPresent) return;
    while (!this.#paused && this.#owner.phase === 'live') {
      const message = this.#held.shift();
      if (message === undefined) return;
      this.#heldUnits -= message.length;
      this.#deliver(message);
    }
  }

  #deliver(message: string | Uint8Array): void {
    if (typeof message === 'string') this.#owner.message(message);
    else this.#owner.binary(message);
  }

  #closed(code: number, reason: string): void {
    // Held messages precede the end; a paused owner does not get to see them any more.
    this.#deliverHeld();
    // Our own code comes back as an echo, and peers that just close their TCP connection are common: both are clean.
    const clean = this.#owner.phase === 'closing' || (code === ABNORMAL_CLOSURE && !this.#failed);
    if (this.#owner.end(clean ? undefined : describeClose(code, reason))) this.#release();
  }

  #watchDrain(): void {
    if (this.#drainTimer !== undefined || this.#socket.bufferedAmount === 0) return;
    this.#drainTimer = setTimeout(() => {
      this.#drainTimer = undefined;
      this.#owner.drained();
      this.#watchDrain();
    }, DRAIN_POLL_MS);
  }

  #release(): void {
    clearTimeout(this.#drainTimer);
    this.#drainTimer = undefined;
    this.#held = [];
    this.#heldUnits = 0;
  }
}
