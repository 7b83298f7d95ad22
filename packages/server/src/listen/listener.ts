import type { Transport } from '@exec-server/rpc';
import type { Traffic } from '../telemetry/metrics/server-metrics.js';
import type { Principal } from './principal.js';

/** What a listener knows about a connection before its first message. */
export interface ConnectionInfo {
  /** Whom the credential names. */
  readonly principal: Principal;
  /** The other end, for logs: `127.0.0.1:51312`, `stdio`, a socket path. */
  readonly remote: string;
  /** False where the other end cannot come back (stdio): its session ends with the connection. */
  readonly resumable: boolean;
  /**
   * How long the credential is still good, in milliseconds. The connection ends when that is no longer positive; its
   * session can be resumed with a new one. @default for ever
   */
  credentialLeftMs?(): number;
  /** Bytes that went over the connection so far. @default nobody counts them */
  readTraffic?(): Traffic;
}

/** Takes over a connected transport; the server's side of every listener. */
export type AcceptConnection = (transport: Transport, info: ConnectionInfo) => void;

/** Something that takes connections until it is closed. */
export interface Listener {
  /** Where clients connect, with the port that was bound: `ws://127.0.0.1:7711`, `unix:///run/x.sock`, `stdio`. */
  readonly url: string;
  /** Stops taking connections. Those already accepted go on. */
  close(): Promise<void>;
  /** Resolves when the listener has ended by itself, as stdio does at end of input. */
  readonly ended: Promise<void>;
}
