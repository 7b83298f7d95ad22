import type { IncomingMessage } from 'node:http';
import type { ConnectionOptions } from 'node:tls';
import { MAX_MESSAGE_BYTES } from '@exec-server/protocol';
import { WebSocket } from 'ws';
import { ConnectError } from '../errors.js';
import type { Transport } from '../transport.js';
import { createWebSocketTransport } from './websocket-transport.js';

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** How much of a refusal's body goes into the error. */
const MAX_REFUSAL_BYTES = 1024;

/** Options of {@link connectWebSocket}. */
export interface ConnectWebSocketOptions {
  /** Bearer token, sent as `Authorization` header. */
  readonly token?: string;
  /** Further request headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time until the connection must stand, in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
  /** How a `wss` server proves itself, and we to it. @default the certificates Node trusts */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;
}

/** Connects to `ws://` or `wss://`. Fails with {@link ConnectError}, with the HTTP status where there is one. */
export function connectWebSocket(url: string, options: ConnectWebSocketOptions = {}): Promise<Transport> {
  const { token, headers, timeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, tls } = options;
  const address = withoutCredentials(url);
  return new Promise((resolve, reject) => {
    const socket = openSocket(url, address, {
      ...tls,
      headers: { ...headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    const fail = (detail: string, more: { status?: number; cause?: unknown } = {}) => {
      clearTimeout(timer);
      reject(new ConnectError(address, detail, more));
      socket.terminate();
    };
    const timer = setTimeout(() => fail(`no connection within ${timeoutMs} ms`), timeoutMs);
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
      clearTimeout(timer);
      socket.off('error', onError);
      const label = `exec-server websocket ${address}`;
      resolve(createWebSocketTransport(socket, { label, ...(response && { stream: response.socket }) }));
    });
  });
}

function openSocket(
  url: string,
  address: string,
  options: ConstructorParameters<typeof WebSocket>[2],
): WebSocket {
  try {
    return new WebSocket(url, options);
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

/** Addresses show up in labels and errors, where a password does not belong. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '') return url;
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
