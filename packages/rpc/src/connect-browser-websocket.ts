import { BEARER_SUBPROTOCOL_PREFIX, SUBPROTOCOL } from '@exec-server/protocol';
import { createBrowserWebSocketTransport } from './browser-websocket-transport.js';
import { ConnectError } from './errors.js';
import type { Transport } from './transport.js';

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Options of {@link connectBrowserWebSocket}. */
export interface BrowserConnectOptions {
  /** Bearer token. */
  readonly token?: string;
  /** Time until the connection must stand, in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
}

/** Connects with the global `WebSocket` class. A browser does not say why it failed, and so neither does the error. */
export function connectBrowserWebSocket(
  url: string,
  options: BrowserConnectOptions = {},
): Promise<Transport> {
  const { token, timeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
  // The plain name is for the server to select: it would have to send the token back otherwise.
  const protocols =
    token === undefined ? [] : [SUBPROTOCOL, `${BEARER_SUBPROTOCOL_PREFIX}${encodeBase64Url(token)}`];
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocols);
    const fail = (detail: string) => {
      clearTimeout(timer);
      reject(new ConnectError(url, detail));
    };
    const timer = setTimeout(() => {
      fail(`no connection within ${timeoutMs} ms`);
      socket.close();
    }, timeoutMs);
    socket.addEventListener('error', () => fail('the connection was refused or failed'));
    socket.addEventListener('open', () => {
      clearTimeout(timer);
      resolve(createBrowserWebSocketTransport(socket, { label: `exec-server websocket ${url}` }));
    });
  });
}

function encodeBase64Url(text: string): string {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
