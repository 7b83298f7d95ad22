import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../clock.js';
import type { Logger } from '../telemetry/logger.js';
import type { AuthPolicy } from './auth.js';
import type { HttpLimits } from './http-limits.js';
import type { KeepAliveLimits } from './keep-alive.js';
import type { Principal } from './principal.js';

/** How a listener takes connections. Members that the kind of listener cannot honour are refused. */
export interface ListenOptions {
  /** Who may connect. WebSocket only. @default everybody, and then only on loopback */
  readonly auth?: AuthPolicy;
  /** Origins of web pages that may connect, compared exactly. WebSocket only. @default none */
  readonly allowedOrigins?: readonly string[];
  /** Names, as `name` or `name:port`, that a `Host` header may carry beside our addresses. WebSocket only. */
  readonly allowedHosts?: readonly string[];
  /** Lets a listener without `auth` take connections from the network. WebSocket only. @default false */
  readonly allowUnauthenticated?: boolean;
  /** Certificate chain and private key in PEM. Required for `wss`, refused elsewhere. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** Bounds on connections that are no WebSocket yet. WebSocket only. */
  readonly http?: Partial<HttpLimits>;
  /** WebSocket only: a Unix socket and stdio learn of a dead peer from the operating system. */
  readonly keepAlive?: Partial<KeepAliveLimits>;
  /** The two streams of `stdio`. @default those of the process, with everything else kept off its stdout */
  readonly streams?: { readonly input: Readable; readonly output: Writable };
  /**
   * Writes what `/metrics` answers: about everybody, or about one principal alone. WebSocket only.
   * @default what the server has counted, if it counts
   */
  readonly metrics?: ((about: Principal | 'everybody') => string) | undefined;
  /** Told the HTTP status of each upgrade that is refused. WebSocket only. */
  readonly onRefused?: (status: number) => void;
  /** Says why no connection is taken at present. WebSocket only. @default none is refused for that */
  readonly findRefusal?: () => string | undefined;
  /** @default silent */
  readonly logger?: Logger;
  /** @default the system's */
  readonly clock?: Clock;
}
