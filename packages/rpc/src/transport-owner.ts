import { decodeStrictly } from './decode-strictly.js';
import { type KeepBytes, LONG_MESSAGE_BYTES, type TransportHandlers } from './transport.js';

/**
 * What every transport shares: its one owner and the order of its life, `live`, `closing`, `ended`. A closing
 * transport delivers no more messages; the end is told exactly once, last, also to an owner that comes late.
 */
export class TransportOwner {
  #handlers: TransportHandlers | undefined;
  #phase: 'live' | 'closing' | 'ended' = 'live';
  #endReason: string | undefined;

  /** False until the owner has opened the transport. */
  get isPresent(): boolean {
    return this.#handlers !== undefined;
  }

  get phase(): 'live' | 'closing' | 'ended' {
    return this.#phase;
  }

  open(handlers: TransportHandlers): void {
    if (this.#handlers !== undefined) throw new Error('transport is already open');
    this.#handlers = handlers;
    if (this.#phase === 'ended') this.#tellEnd(handlers);
  }

  message(text: string): void {
    if (this.#phase === 'live') this.#handlers?.onMessage(text);
  }

  /** Tells a message as valid UTF-8. False when the owner wants its text: it is short, or the owner takes no bytes. */
  messageBytes(bytes: Uint8Array, keep: KeepBytes): boolean {
    if (this.#phase !== 'live') return true;
    if (bytes.length < LONG_MESSAGE_BYTES || this.#handlers?.onLongMessage === undefined) return false;
    this.#handlers.onLongMessage(bytes, keep);
    return true;
  }

  /** Whether binary messages are something else than text in another wrapping. */
  get takesBinary(): boolean {
    return this.#handlers?.onBinary !== undefined;
  }

  /** A binary message: the owner takes it as it is, or it is text in another wrapping. */
  binary(frame: Uint8Array): void {
    if (this.#phase !== 'live') return;
    if (this.#handlers?.onBinary !== undefined) {
      this.#handlers.onBinary(frame);
      return;
    }
    const text = decodeStrictly(frame);
    if (text === undefined) this.malformed('invalid unicode code point');
    else this.message(text);
  }

  object(message: object): void {
    if (this.#phase === 'live') this.#handlers?.onObject?.(message);
  }

  malformed(detail: string): void {
    if (this.#phase === 'live') this.#handlers?.onMalformed(detail);
  }

  drained(): void {
    if (this.#phase !== 'ended') this.#handlers?.onDrain();
  }

  /** What is held of messages that are not whole yet has changed. */
  held(): void {
    if (this.#phase !== 'ended') this.#handlers?.onHeld?.();
  }

  /** True when the owner knows what to do with a half-open connection and will close it. */
  inputEnded(): boolean {
    if (this.#phase !== 'live' || this.#handlers?.onEnd === undefined) return false;
    this.#handlers.onEnd();
    return true;
  }

  /** True the first time, when the transport has to start its closing. */
  beginClose(): boolean {
    if (this.#phase !== 'live') return false;
    this.#phase = 'closing';
    return true;
  }

  /** True the first time, when the transport has to release what it holds. */
  end(reason: string | undefined): boolean {
    if (this.#phase === 'ended') return false;
    this.#phase = 'ended';
    this.#endReason = reason;
    if (this.#handlers !== undefined) this.#tellEnd(this.#handlers);
    return true;
  }

  /** Later, so that an owner never hears of the end inside its own call to `close`, `destroy` or `open`. */
  #tellEnd(handlers: TransportHandlers): void {
    queueMicrotask(() => handlers.onClose(this.#endReason));
  }
}
