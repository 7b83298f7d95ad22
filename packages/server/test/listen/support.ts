import { once } from 'node:events';
import { connect } from 'node:net';
import type { AcceptConnection, ConnectionInfo } from '../../src/listen/listener.js';

/** Answers every message with itself and remembers who connected and why they left. */
export function createEcho() {
  const connections: ConnectionInfo[] = [];
  const labels: string[] = [];
  let tellClosed: (reason: string | undefined) => void = () => {};
  const closed = new Promise<string | undefined>((resolve) => {
    tellClosed = resolve;
  });
  const accept: AcceptConnection = (transport, info) => {
    connections.push(info);
    labels.push(transport.label);
    transport.open({
      onMessage: (text) => transport.send(text),
      onMalformed: (detail) => transport.send(`malformed: ${detail}`),
      onDrain() {},
      onClose: (reason) => tellClosed(reason),
    });
  };
  return { accept, connections, labels, closed };
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const UPGRADE_HEADERS = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
} as const;

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly version?: string;
  /** `undefined` leaves a header out, also `Host`. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Sends one request byte for byte, as no HTTP client would, and reads one response. */
export async function sendRaw(url: string, request: RawRequest = {}): Promise<RawResponse> {
  const { hostname, port, host } = new URL(url);
  const headers = { Host: host, ...request.headers };
  const socket = connect(Number(port), hostname.replace(/[[\]]/g, ''));
  socket.setEncoding('latin1');
  const target = `${request.method ?? 'GET'} ${request.path ?? '/'} HTTP/${request.version ?? '1.1'}`;
  socket.write(`${target}\r\n${formatHeaders(headers)}\r\n`, 'latin1');
  try {
    return await readResponse(socket, request.method === 'HEAD');
  } finally {
    socket.destroy();
  }
}

export function formatHeaders(headers: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(headers)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

async function readResponse(socket: AsyncIterable<string>, isHead: boolean): Promise<RawResponse> {
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const [statusLine = '', ...rows] = text.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      rows.map((row) => [
        row.slice(0, row.indexOf(':')).toLowerCase(),
        row.slice(row.indexOf(':') + 1).trim(),
      ]),
    );
    const body = text.slice(end + 4);
    if (isHead || body.length >= Number(headers['content-length'] ?? 0)) {
      return { status: Number(statusLine.split(' ')[1]), headers, body };
    }
  }
  throw new Error(`connection ended after ${JSON.stringify(text)}`);
}

/** Opens a TCP connection and waits until the server has it. */
export async function openTcp(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}
