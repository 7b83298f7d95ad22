import { connectUnixSocket, connectWebSocket } from '@exec-server/rpc/node';
import type { PlatformDialers } from '../dial/create-dialer.js';
import type { DialOptions, TlsOptions } from '../dial/dial-options.js';
import { dialWithin } from '../dial/dial-within.js';
import type { Dialer } from '../dial/dialer.js';
import { createWebSocketDialer } from '../dial/websocket-dialer.js';
import { createStdioDialer } from './stdio-dialer.js';

/** The time for all of a connection is the dialer's to keep. */
const NO_TIMEOUT = { timeoutMs: Number.POSITIVE_INFINITY } as const;

/** What Node has: sockets and child processes. */
export const nodeDialers: PlatformDialers = {
  websocket: (url, options) =>
    createWebSocketDialer(url, options, (address, attempt) =>
      connectWebSocket(address, { ...attempt, ...NO_TIMEOUT, ...handshakeOptions(options) }),
    ),
  unix: createUnixDialer,
  stdio: createStdioDialer,
};

function handshakeOptions({ headers, tls }: DialOptions) {
  return { ...(headers !== undefined && { headers }), ...(tls !== undefined && { tls: toNodeTls(tls) }) };
}

function toNodeTls({ ca, cert, key, ...rest }: TlsOptions) {
  return {
    ...rest,
    ...(ca !== undefined && { ca: [ca].flat().map(toPem) }),
    ...(cert !== undefined && { cert: toPem(cert) }),
    ...(key !== undefined && { key: toPem(key) }),
  };
}

function toPem(pem: string | Uint8Array): string | Buffer {
  return typeof pem === 'string' ? pem : Buffer.from(pem);
}

function createUnixDialer(path: string, options: DialOptions): Dialer {
  const address = `unix://${path}`;
  return {
    address,
    redials: true,
    dial: (signal) =>
      dialWithin(address, options, signal, (attempt) =>
        connectUnixSocket(path, { signal: attempt, ...NO_TIMEOUT }),
      ),
    close: () => Promise.resolve(),
  };
}
