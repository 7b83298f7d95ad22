import type { IncomingMessage } from 'node:http';
import type { ConnectionOptions } from 'node:tls';
import { MAX_MESSAGE_BYTES } from '@exec-server/protocol';
import type { WebSocket } from 'ws';
import { attemptConnection, type ConnectLimits } from '../connect-attempt.js';
import { ConnectError } from '../errors.js';
import type { Transport } from '../transport.js';
import { withoutSecrets } from '../without-secrets.js';
import { createWebSocketTransport } from './websocket-transport.js';

/** How much of a refusal's body goes into the error. */
const MAX_REFUSAL_BYTES = 1024;

/** Options of {@link connectWebSocket}. */
export interface ConnectWebSocketOptions extends ConnectLimits {
  /** Bearer token, sent as `Authorization` header. */
  readonly token?: string;
  /** Further request headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How a `wss` server proves itself, and we to it. @default the certificates Node trusts */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;
}

/** Connects to `ws://` or `wss://`. Fails with {@link ConnectError}, with the HTTP status where there is one. */
export async function connectWebSocket(
  url: string,
  options: ConnectWebSocketOptions = {},
): Promise<Transport> {
  // Loaded here so that servers on pipes and clients of sockets do not load HTTP and TLS.
  const ws = await import('ws');
  const { token, headers, tls } = options;
  const address = withoutSecrets(url);
  return attemptConnection(address, options, ({ succeed, fail }) => {
    const socket = openSocket(ws.WebSocket, url, address, {
      ...tls,
      headers: { ...headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    let response: IncomingMessage | undefined;
    socket.on('upgrade', (message) => {
      response = message;
    });
    const onError = (error: Error) => fail(error.message, { cause: error });
    socket.on('error', onError);
    socket.on('unexpected-response', (_request, refusal) => {
      const status = refusal.statusCode ?? 0;
      readRefusal(refusal, (body) => fail(`${status}${body === '' ? '' : ` ${body}`}`, { status }));
    });
    socket.on('open', () => {
      socket.off('error', onError);
      const label = `exec-server websocket ${address}`;
      succeed(createWebSocketTransport(socket, { label, ...(response && { stream: response.socket }) }));
    });
    return () => socket.terminate();
  });
}

function openSocket(
  Socket: typeof WebSocket,
  url: string,
  address: string,
  options: ConstructorParameters<typeof WebSocket>[2],
): WebSocket {
  try {
    return new Socket(url, options);
  } catch (error) {
    throw new ConnectError(address, error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Calls `done` once with the start of the body, also when it breaks off. */
function readRefusal(response: IncomingMessage, done: (body: string) => void): void {
  let body = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    body += text;
    if (body.length > MAX_REFUSAL_BYTES) response.destroy();
  });
  response.on('error', () => {});
  response.on('close', () => done(body.slice(0, MAX_REFUSAL_BYTES).trim()));
}
