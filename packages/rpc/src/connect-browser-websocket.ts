import { BEARER_SUBPROTOCOL_PREFIX, SUBPROTOCOL } from '@exec-server/protocol';
import { createBrowserWebSocketTransport } from './browser-websocket-transport.js';
import { attemptConnection, type ConnectLimits } from './connect-attempt.js';
import type { Transport } from './transport.js';
import { withoutSecrets } from './without-secrets.js';

/** Options of {@link connectBrowserWebSocket}. */
export interface BrowserConnectOptions extends ConnectLimits {
  /** Bearer token. */
  readonly token?: string;
}

/** Connects with the global `WebSocket` class. A browser does not say why it failed, and so neither does the error. */
export function connectBrowserWebSocket(
  url: string,
  options: BrowserConnectOptions = {},
): Promise<Transport> {
  const { token } = options;
  const address = withoutSecrets(url);
  // The plain name is for the server to select: it would have to send the token back otherwise.
  const protocols =
    token === undefined ? [] : [SUBPROTOCOL, `${BEARER_SUBPROTOCOL_PREFIX}${encodeBase64Url(token)}`];
  return attemptConnection(address, options, ({ succeed, fail }) => {
    const socket = new WebSocket(url, protocols);
    socket.addEventListener('error', () => fail('the connection was refused or failed'));
    socket.addEventListener('open', () => {
      // A socket that was given up may open all the same.
      if (socket.readyState !== socket.OPEN) return;
      succeed(createBrowserWebSocketTransport(socket, { label: `exec-server websocket ${address}` }));
    });
    return () => socket.close();
  });
}

function encodeBase64Url(text: string): string {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
