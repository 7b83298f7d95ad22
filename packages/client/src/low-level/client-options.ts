import type { TraceContext } from '@exec-server/protocol';
import type { NetworkPolicyHandler } from '../answer-server-requests.js';
import type { Clock } from '../clock.js';
import type { KeepAliveOptions } from '../keep-alive.js';

/** How a lost connection is made again. */
export interface ReconnectOptions {
  /**
   * Time to get the session back after a loss, in milliseconds. Servers keep a session for 30 seconds. Losses without
   * any progress between them share one such time.
   * @default 25000
   */
  readonly deadlineMs?: number;
  /** Wait before the second attempt, in milliseconds; the first is made at once. It doubles each time. @default 100 */
  readonly minDelayMs?: number;
  /** Longest wait between attempts, in milliseconds. @default 5000 */
  readonly maxDelayMs?: number;
}

/** Options of the low-level client. */
export interface ExecServerClientOptions {
  /** Name of this client, for the logs of the server. @default 'exec-server-client' */
  readonly clientName?: string;
  /** Session to attach to again instead of a new one. */
  readonly resumeSessionId?: string;
  /** Time for the answer to `initialize`, in milliseconds. @default 10000 */
  readonly initializeTimeoutMs?: number;
  /** Time for the answer to every other call, beyond what the call itself asks the server to wait. @default none */
  readonly requestTimeoutMs?: number;
  /** How a lost connection is made again, where it can be; `false` for never. */
  readonly reconnect?: ReconnectOptions | false;
  /**
   * How connections are watched for signs of life; `false` for not at all. One that gives none counts as lost.
   * @default a dead one is found within 20 seconds
   */
  readonly keepAlive?: KeepAliveOptions | false;
  /** Where watches take time from. @default the platform's */
  readonly clock?: Clock;
  /** Take output in binary frames where server and transport have them. @default true */
  readonly binaryOutput?: boolean;
  /**
   * What becomes of a reader of events that is slower than the process. `wait`: the process waits for it, and only that
   * process; where the server cannot do that, as `lag`. `lag`: the process goes on, and the reader is told what it
   * missed. `pause`: nothing is read from the connection until the reader has caught up, calls included, which suits a
   * connection with one process. The body of an HTTP response that is read too slowly fails, except with `pause`.
   * @default 'wait'
   */
  readonly slowReader?: 'wait' | 'lag' | 'pause';
  /**
   * Gives the W3C trace context that a call is sent with, so that what the server does is a part of the caller's trace.
   * Asked at each call; nothing is sent where it answers nothing. What it throws the call rejects with.
   */
  readonly trace?: () => TraceContext | undefined;
  /** Decides for registered processes whether they may connect somewhere. @default everything is denied */
  readonly onNetworkPolicyRequest?: NetworkPolicyHandler;
}
