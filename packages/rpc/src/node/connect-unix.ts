import { createConnection } from 'node:net';
import { ConnectError } from '../errors.js';
import type { Transport } from '../transport.js';
import { createLineTransport } from './line-transport.js';

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Options of {@link connectUnixSocket}. */
export interface ConnectUnixSocketOptions {
  /** Time until the connection must stand, in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
}

/** Connects to a server that listens on a Unix socket. Fails with {@link ConnectError}. */
export function connectUnixSocket(path: string, options: ConnectUnixSocketOptions = {}): Promise<Transport> {
  const { timeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
  const address = `unix://${path}`;
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    const fail = (detail: string, cause?: Error) => {
      clearTimeout(timer);
      reject(new ConnectError(address, detail, { cause }));
      socket.destroy();
    };
    const onError = (error: Error) => fail(error.message, error);
    // A full backlog makes a Unix connect wait.
    const timer = setTimeout(() => fail(`no connection within ${timeoutMs} ms`), timeoutMs);
    socket.on('error', onError);
    socket.on('connect', () => {
      clearTimeout(timer);
      socket.off('error', onError);
      resolve(createLineTransport({ input: socket, output: socket, label: `exec-server unix ${path}` }));
    });
  });
}
