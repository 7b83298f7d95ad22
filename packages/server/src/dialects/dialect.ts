import type { RpcError } from '@exec-server/protocol';
import type { Place } from '../connection/lanes.js';
import type { ProcessEngine } from '../process/process-engine.js';
import type { Session } from '../sessions/session.js';

/** What a handler knows beside its params. */
export interface HandlerContext {
  readonly engine: ProcessEngine;
  readonly session: Session;
  /** Aborts when the connection is gone. */
  readonly signal: AbortSignal;
  readonly place: Place;
}

/** One method of a dialect, ready to be called. */
export interface DialectMethod {
  /** Names the group of methods in handshake errors. */
  readonly family: string;
  readonly lane: 'control' | 'ordinary';
  /** Checks params. Throws an {@link RpcError}. */
  decode(params: unknown): unknown;
  /** Acts on decoded params. Throws an {@link RpcError} for what the client is to be told. */
  handle(params: never, context: HandlerContext): unknown;
}

/** The words that a connection speaks: names to methods, and what is said about names that are none. */
export interface Dialect {
  find(method: string): DialectMethod | undefined;
  unknownMethod(method: string): RpcError;
}
