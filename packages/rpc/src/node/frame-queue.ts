import { Fifo } from '../fifo.js';

/** Told when a frame has left the process, or with the reason why it never will. */
export type SentCallback = (error?: Error | null) => void;

/** A frame to send, and whether it is binary and the last of its message. */
export interface OutboundFrame {
  readonly data: string | Uint8Array;
  /** What follows `data` in the same frame. */
  readonly rest?: Uint8Array;
  /** Told once all of it has left; not when it is lost. */
  readonly onWritten?: (() => void) | undefined;
  /** Length of all of it. */
  readonly bytes: number;
  readonly binary: boolean;
  readonly fin: boolean;
}

/** Bytes handed to the socket at most, as long as more than one frame waits. */
const MAX_IN_SOCKET_BYTES = 1024 * 1024;

/**
 * Frames on their way out. A socket that is blocked writes everything it holds as one batch, and tells only when all of
 * it is gone; with tens of megabytes inside it a reader that makes progress looks like one that has stopped. So the
 * socket gets little at a time, and the rest waits here, where every byte that leaves is seen.
 */
export class FrameQueue {
  readonly #waiting = new Fifo<OutboundFrame>();
  readonly #write: (frame: OutboundFrame, onSent: SentCallback) => void;
  readonly #onSent: () => void;
  #inSocketBytes = 0;
  #bytes = 0;

  /** `onSent` is called whenever bytes have left. */
  constructor(write: (frame: OutboundFrame, onSent: SentCallback) => void, onSent: () => void) {
    this.#write = write;
    this.#onSent = onSent;
  }

  /** Bytes that have not left yet. */
  get bytes(): number {
    return this.#bytes;
  }

  push(frame: OutboundFrame): void {
    this.#bytes += frame.bytes;
    this.#waiting.push(frame);
    this.#feed(MAX_IN_SOCKET_BYTES);
  }

  /** Hands everything to the socket: nothing more is coming. */
  flush(): void {
    this.#feed(Number.POSITIVE_INFINITY);
  }

  #feed(limit: number): void {
    while (this.#inSocketBytes < limit) {
      const frame = this.#waiting.shift();
      if (frame === undefined) return;
      this.#inSocketBytes += frame.bytes;
      this.#write(frame, (error) => {
        this.#inSocketBytes -= frame.bytes;
        this.#bytes -= frame.bytes;
        if (error === undefined || error === null) frame.onWritten?.();
        this.#feed(MAX_IN_SOCKET_BYTES);
        this.#onSent();
      });
    }
  }
}
