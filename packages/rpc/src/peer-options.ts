import type { Message, NotificationMessage, RequestId, RequestMessage } from '@exec-server/protocol';
import type { WorkSlices } from './work-slices.js';

/** What crosses the wire when a call fails. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What a message that cannot be read costs: the connection, an answer with id -1, or nothing. */
export type ParseErrorRule = 'close' | 'answer' | 'ignore';

/** A long message that is being read, from bytes that do not change meanwhile. */
export interface LongMessageReader {
  /** Goes on while there is time. The message once all of it is read. Throws `MalformedMessageError`. */
  read(hasTime: () => boolean): Message | undefined;
  /** Whether there was nothing but white space, once `read` has thrown. */
  readonly isBlank: boolean;
}

/** Options of {@link Peer}. */
export interface PeerOptions {
  /** What a message that cannot be read costs. A function is asked each time. */
  readonly parseErrors: ParseErrorRule | (() => ParseErrorRule);
  /**
   * Takes a request whose message was `length` characters long, or bytes; answers with `respond` or `respondError`, now or later.
   * What it throws is answered as an error.
   */
  onRequest(request: RequestMessage, length: number): void | Promise<void>;
  onNotification(notification: NotificationMessage): void;
  /**
   * Reads a long message from its UTF-8 at once, where that takes no time to speak of; nothing for all others.
   * @default nothing
   */
  readLongRequest?(bytes: Uint8Array): RequestMessage | undefined;
  /**
   * Begins to read a long message from its UTF-8, where the transport has it as bytes. It is read while the slices allow
   * it, then in the turns that follow. @default long messages are read from their text like all others, at once
   */
  readLong?(bytes: Uint8Array): LongMessageReader;
  /** Takes binary messages. @default they are read as JSON text like all others */
  onBinary?(frame: Uint8Array): void;
  /** Takes objects from a peer in the same process, which are not to be changed. @default none are sent */
  onObject?(message: object): void;
  /** A message that cannot be read is about to cost the connection; `reason` says why. */
  onRefused?(reason: string): void;
  /** An answer to a call that was never made. @default ignored */
  onUnexpectedResponse?(id: RequestId): void;
  /** The bytes that are queued now, after each message and whenever some have left. */
  onQueued?(bytes: number): void;
  /** The memory that is held now for messages that have not come in whole yet, in bytes, whenever it changes. */
  onHeld?(bytes: number): void;
  /** The connection has ended; `reason` is absent when it did so cleanly. */
  onClose?(reason: string | undefined): void;
  /** An exception out of one of the handlers above; the peer goes on. @default ignored */
  onHandlerError?(error: unknown): void;
  /** Calls that may wait for an answer at once. @default 1024 */
  readonly maxPendingCalls?: number;
  /** Queued bytes at which producers have to wait. @default 1048576 */
  readonly highWaterBytes?: number;
  /** Queued bytes at which they may go on. @default 262144 */
  readonly lowWaterBytes?: number;
  /** Has messages be taken in slices of turns; what does not fit waits, and nothing more is read. @default at once */
  readonly slices?: WorkSlices;
  /** Time for requests in flight when a half-open connection stops sending, in milliseconds. @default 1000 */
  readonly endOfInputGraceMs?: number;
}
