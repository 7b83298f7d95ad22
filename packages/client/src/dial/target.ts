import type { Transport } from '@exec-server/rpc';
import type { Dialer } from './dialer.js';

/**
 * A server to start: it speaks over its stdin and stdout. It ends when the client is closed, or with this process: a client
 * that is merely dropped keeps it. Node only.
 */
export interface StdioTarget {
  /** Program and arguments, e.g. `['exec-server', 'serve', '--listen', 'stdio']`. */
  readonly command: readonly string[];
  /** Variables beside those of this process; `undefined` takes one away. @default none */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** @default the working directory of this process */
  readonly cwd?: string;
  /**
   * Where its stderr goes: to that of this process, or to a function, as text.
   * @default nowhere; its last lines are in the error when the server ends by itself
   */
  readonly stderr?: 'inherit' | ((text: string) => void);
}

/** A server in this process, such as `createExecServer` of `@exec-server/server` makes. */
export interface AcceptingServer {
  accept(transport: Transport): void;
}

/**
 * What to connect to: `ws://`, `wss://` or `unix://` and a path, a server to start, a server in this process, a
 * connection that stands already, or something that makes connections.
 */
export type ConnectTarget = string | URL | StdioTarget | AcceptingServer | Transport | Dialer;

export function isDialer(target: object): target is Dialer {
  return 'dial' in target;
}

export function isAcceptingServer(target: object): target is AcceptingServer {
  return 'accept' in target;
}

export function isStdioTarget(target: object): target is StdioTarget {
  return 'command' in target;
}

export function isTransport(target: object): target is Transport {
  return 'framing' in target && 'open' in target;
}
