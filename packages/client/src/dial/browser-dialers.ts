import { connectBrowserWebSocket } from '@exec-server/rpc';
import type { ExecServerError } from '../errors.js';
import { usageError } from '../usage.js';
import type { PlatformDialers } from './create-dialer.js';
import { createWebSocketDialer } from './websocket-dialer.js';

/** What pages and workers have: the global `WebSocket`. */
export const browserDialers: PlatformDialers = {
  websocket(url, options) {
    if (options.tls !== undefined) throw nodeOnly('`tls`');
    if (options.headers !== undefined) throw nodeOnly('`headers`');
    return createWebSocketDialer(url, options, (address, { token, signal }) =>
      connectBrowserWebSocket(address, {
        signal,
        // The time for all of it is the dialer's to keep.
        timeoutMs: Number.POSITIVE_INFINITY,
        ...(token !== undefined && { token }),
      }),
    );
  },
  unix() {
    throw nodeOnly('unix://');
  },
  stdio() {
    throw nodeOnly('a command to start');
  },
};

function nodeOnly(what: string): ExecServerError {
  return usageError(`${what} needs Node; a browser can connect to ws:// and wss:// only`);
}
