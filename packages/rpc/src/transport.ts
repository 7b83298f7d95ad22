import type { MessageLimit } from './message-limit.js';

/** Messages of at least so many bytes come as bytes to whoever takes those. */
export const LONG_MESSAGE_BYTES = 64 * 1024;

/** The bytes of a message that its receiver keeps for a while. */
export interface KeptBytes {
  readonly bytes: Uint8Array;
  /** Gives their memory back. To be called once, when nobody uses them any more. */
  release(): void;
}

/** Has the bytes of a message that is being told be the receiver's until it releases them, copied only if they must be. */
export type KeepBytes = () => KeptBytes;

/** What a transport tells its one owner. */
export interface TransportHandlers {
  /** One whole message, as text. */
  onMessage(text: string): void;
  /**
   * One whole message of {@link LONG_MESSAGE_BYTES} or more, as valid UTF-8, from a transport that has it as bytes. They
   * are the transport's again afterwards, unless they are kept. Without the handler it comes as text.
   */
  onLongMessage?(bytes: Uint8Array, keep: KeepBytes): void;
  /**
   * One whole binary message, the receiver's to keep. Without the handler binary messages are read as JSON text like
   * all others.
   */
  onBinary?(frame: Uint8Array): void;
  /** One object from an owner in the same process, shared with it and not to be changed. */
  onObject?(message: object): void;
  /** A frame that is no text (bad UTF-8) on a transport that can go on; `detail` says why. */
  onMalformed(detail: string): void;
  /** Bytes left the queue; `bufferedBytes` may be lower now. */
  onDrain(): void;
  /** `heldBytes` has changed. */
  onHeld?(): void;
  /**
   * The other side sends nothing more but may still read, as at the end of a piped stdin. Whoever takes this
   * must call `close` in the end; without the handler the transport closes by itself.
   */
  onEnd?(): void;
  /** Called exactly once, last. `reason` is absent when the end was clean. */
  onClose(reason: string | undefined): void;
}

/** How a transport ends; both members only matter to transports that have close frames. */
export interface CloseOptions {
  /** WebSocket close code. @default 1000 */
  readonly code?: number;
  /** Human-readable reason, cut to what the transport can carry. */
  readonly reason?: string;
}

/** A connection that carries whole JSON messages both ways and knows nothing of what they mean. */
export interface Transport {
  /** Names the connection in messages to people, e.g. `exec-server websocket 127.0.0.1:4242`. */
  readonly label: string;
  /** How messages are delimited. `websocket` changes the wording of parse errors, nothing else. */
  readonly framing: 'websocket' | 'lines' | 'memory';
  /** Bytes accepted by `send` that have not left this process yet. */
  readonly bufferedBytes: number;
  /** Memory held for messages of the other side that have not come in whole yet, in bytes. @default 0 */
  readonly heldBytes?: number;
  /**
   * Sets another limit for messages that follow; without one that of the transport itself holds again. A longer message
   * ends the connection.
   */
  limitMessages?(limit?: MessageLimit): void;
  /** Starts delivery. Messages that arrived before are delivered first. Called once. */
  open(handlers: TransportHandlers): void;
  /** Queues one message given as JSON text without a newline. Does nothing once closed. */
  send(text: string): void;
  /**
   * Queues one message given as UTF-8 JSON **followed by a newline**, so that a line transport sends the buffer
   * as it is; others leave the newline off. The buffer belongs to the transport until it calls `onFree`, which it may
   * never do.
   */
  sendBytes(line: Uint8Array, onFree?: () => void): void;
  /**
   * Queues one binary message, in order with those of `send` and `sendBytes`; the other side must expect it. It is
   * `frame` followed by `rest`, neither of which is to be changed from here on. `onFree` is called once `rest` has been
   * taken and may be changed again; never, when the connection ends before. Absent where messages are text only; where
   * it is there, `onBinary` works too.
   */
  sendBinary?(frame: Uint8Array, rest?: Uint8Array, onFree?: () => void): void;
  /** Whether the owner of the other end is in this process and takes objects. Absent where messages are bytes. */
  readonly carriesObjects?: boolean;
  /**
   * Queues an object, which is handed over as it is, in order with all other messages. It counts as `bytes` while it is
   * buffered, and is not to be changed from here on. Only where `carriesObjects`.
   */
  sendObject?(message: object, bytes: number): void;
  /** Sends a ping frame, which the other side answers by itself. Absent where there are none. */
  ping?(): void;
  /**
   * A number that differs from the last one if bytes went either way in between: some came in, or the system took some
   * although more wait. `untilNextMs` says when it is asked again, in milliseconds. Absent where a connection cannot die
   * in silence, and where nobody can tell.
   */
  measureActivity?(untilNextMs: number): number;
  /** Stops reading from the other side; what is already read may still be delivered. */
  pause(): void;
  resume(): void;
  /** Flushes what is queued where the transport can, then ends. `onClose` follows. */
  close(options?: CloseOptions): void;
  /** Ends at once and drops what is queued. `onClose` follows with `reason`. */
  destroy(reason: string): void;
}
