import { createConnection } from 'node:net';
import { attemptConnection, type ConnectLimits } from '../connect-attempt.js';
import type { Transport } from '../transport.js';
import { createLineTransport } from './line-transport.js';

/** Connects to a server that listens on a Unix socket. Fails with `ConnectError`. */
export function connectUnixSocket(path: string, limits: ConnectLimits = {}): Promise<Transport> {
  // A full backlog makes a Unix connect wait, so that this takes limits as any other.
  return attemptConnection(`unix://${path}`, limits, ({ succeed, fail }) => {
    const socket = createConnection(path);
    const onError = (error: Error) => fail(error.message, { cause: error });
    socket.on('error', onError);
    socket.on('connect', () => {
      socket.off('error', onError);
      const label = `exec-server unix ${path}`;
      succeed(createLineTransport({ input: socket, output: socket, label, unfinishedLine: 'broken' }));
    });
    return () => socket.destroy();
  });
}
