import type { RequestId, RpcError } from '@exec-server/protocol';
import type { CallOptions, ParseErrorRule } from '@exec-server/rpc';
import type { FileAccess } from '../connection/file-order.js';
import type { Place } from '../connection/lanes.js';
import type { ConnectionInfo } from '../listen/listener.js';
import type { ProcessEngine } from '../process/process-engine.js';
import type { Session, SessionHolder } from '../sessions/session.js';
import type { Logger } from '../telemetry/logger.js';
import type { CallerTrace } from '../telemetry/tracing/caller-trace.js';

/** What a room keeps for one connection and gives up with it: file handles, watches, response streams. */
export interface ConnectionResource {
  /** Called once, when the connection has ended. */
  close(): void;
}

/** The connection that a request came from. */
export interface ConnectionScope {
  /** Sends a notification; does nothing once the connection has ended. */
  notify(method: string, params: unknown): void;
  /** Asks the client something. Rejects with an {@link RpcError}, or when no answer comes: no time, no connection. */
  request(method: string, params: unknown, options: CallOptions): Promise<unknown>;
  /** Sends a message that is encoded already, with its newline; the buffer is the connection's until `onFree`, which may never come. */
  sendBytes(line: Uint8Array, onFree?: () => void): void;
  /** Whether the client has agreed to take output as binary frames. Settled with the handshake. */
  readonly binaryOutput: boolean;
  /**
   * Sends one binary message in one or two parts, not to be changed any more; `rest` may be from `onFree` on, which is
   * not called when the connection ends before. Only with `binaryOutput`.
   */
  sendBinary(frame: Uint8Array, rest?: Uint8Array, onFree?: () => void): void;
  /** Whether the client is in this process and takes objects. */
  readonly carriesObjects: boolean;
  /** Hands an object over as it is; it counts as `bytes` until it is taken. Only with `carriesObjects`. */
  sendObject(message: object, bytes: number): void;
  /** Bytes sent that have not left this process yet. */
  readonly bufferedBytes: number;
  /** False while the client is behind in reading; producers of notifications wait then. */
  readonly writable: boolean;
  /** Resolves when the client has caught up or is gone. */
  whenWritable(): Promise<void>;
  /** The connection's one `kind`, made at first use and closed with the connection. */
  keep<T extends ConnectionResource>(kind: new (scope: ConnectionScope) => T): T;
}

/**
 * A response that its handler has encoded, with its newline: for results so large that encoding them at once would hold
 * up the event loop, or not fit into one string.
 */
export class EncodedResponse {
  constructor(
    readonly line: Uint8Array,
    /** Called once the line has been sent, and its memory may be used for something else. It may never be. */
    readonly onFree?: () => void,
  ) {}
}

/** A response that takes a while to encode: that is a part of the connection's share of a turn of the event loop. */
export class LargeResponse {
  constructor(readonly encode: () => EncodedResponse) {}
}

/** What a handler knows beside its params. */
export interface HandlerContext {
  /** The id that the response carries. */
  readonly requestId: RequestId;
  /** The bytes that the request carries, where they were decoded as it was read; its params are without them then. */
  readonly content: Uint8Array<ArrayBuffer> | undefined;
  readonly engine: ProcessEngine;
  readonly session: Session;
  readonly connection: ConnectionScope;
  /** Aborts when the connection is gone. */
  readonly signal: AbortSignal;
  readonly place: Place;
  /** Where what the request starts belongs in a trace, if the client or the server has one. */
  readonly trace: CallerTrace | undefined;
}

/** One method of a dialect, ready to be called. */
export interface DialectMethod {
  /** Names the group of methods in handshake errors. */
  readonly family: string;
  readonly lane: 'control' | 'ordinary';
  /** Names what the request makes, so that requests about it do not overtake it. */
  readonly opens?: ((params: never) => string) | undefined;
  /** Names what the request is about, where something that is still to be made may be meant. */
  readonly follows?: ((params: never) => string) | undefined;
  /** What it does to files; absent when it has nothing to do with them. */
  readonly files?: ((params: never) => FileAccess) | undefined;
  /** Its answer is the end of what it started; requests about files do not wait for that. @default false */
  readonly staysOpen?: boolean | undefined;
  /** Checks params. Throws an {@link RpcError}. */
  decode(params: unknown): unknown;
  /**
   * Acts on decoded params and returns the result, or an {@link EncodedResponse} or {@link LargeResponse} around it.
   * Throws an {@link RpcError} for what the client is to be told.
   */
  handle(params: never, context: HandlerContext): unknown;
}

/** What a conversation knows of the connection that it is held over. */
export interface ConversationHost {
  readonly info: ConnectionInfo;
  readonly logger: Logger;
  /** What handlers see of the connection; the handshake settles how it speaks. */
  readonly scope: ConnectionScope & ConnectionManners;
  /** Whether the transport has binary messages. */
  readonly carriesBinary: boolean;
  /** The connection, to whoever wants the session that it holds. */
  readonly holder: SessionHolder & { readonly isGone: boolean };
}

/** How a connection speaks. */
export interface ConnectionManners {
  binaryOutput: boolean;
  /** Whether the client answers every request, also those that it does not know. */
  answersRequests: boolean;
  /**
   * Encodes a notification, with its newline, for a dialect whose notifications have members of their own; absent for
   * one that the client does not want.
   * @default method and params, and nothing else
   */
  encodeNotification: ((method: string, params: unknown) => Uint8Array | undefined) | undefined;
}

/** A language that clients of this server speak. */
export interface Dialect {
  /** Begins to speak it over a connection. Nothing is agreed before `initialize`, which may never come. */
  converse(host: ConversationHost): Conversation;
}

/** One connection's use of a dialect: its handshake, its methods, and what is said about everything else. */
export interface Conversation {
  /**
   * Answers `initialize`, at once or later; meanwhile nothing else is asked. Throws, or rejects with, an {@link RpcError}:
   * for bad params, after which the client may try again, and from the second success on.
   */
  initialize(params: unknown): unknown;
  /**
   * The method of that name, if there is one for this client now. Throws an {@link RpcError} for a request that is
   * refused whatever else it says.
   */
  find(method: string, params: unknown): DialectMethod | undefined;
  unknownMethod(method: string): RpcError;
  /** The session that a request belongs to. Throws an {@link RpcError} while the handshake lacks something. */
  admit(method: DialectMethod): Session;
  /** The answer to a request beyond the limits of the connection. */
  overloaded(): RpcError;
  /** Takes a notification. Answers why it ends the connection, if it does. */
  takeNotification(method: string): string | undefined;
  /** Takes an answer to a request that was never sent. Answers why it ends the connection, if it does. */
  takeUnexpectedResponse(id: RequestId): string | undefined;
  /** What a message that cannot be read costs. */
  readonly parseErrors: ParseErrorRule;
  /** Called once, when the connection has ended. */
  close(): void;
}
