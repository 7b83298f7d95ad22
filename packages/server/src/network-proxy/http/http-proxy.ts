import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { basicCredentials } from '../../http/header-list.js';
import { type AccessRequest, explainDenial } from '../decision.js';
import type { Access, Gatekeeper } from '../gatekeeper.js';
import { joinSockets, TUNNEL_IDLE_MS } from '../join-sockets.js';
import { clientOf, MAX_CONNECTIONS } from '../proxy-limits.js';
import { spellHost, type Upstream } from '../upstream.js';
import { answerConnect, answerDenied, answerText } from './answers.js';
import { type HttpTarget, parseAuthority, readHttpTarget, TargetError } from './authority.js';
import { forwardedHeaders } from './forwarded-headers.js';

/** Bytes of a request head. */
const MAX_HEAD_BYTES = 64 * 1024;
/** How long a program may take for a whole request head, in milliseconds. */
const HEAD_TIMEOUT_MS = 30_000;
/** Requests of one proxy that are under way at once; programs may send several on one connection. */
export const MAX_REQUESTS = 256;
/** How long a connection waits for its next request, in milliseconds. */
const KEEP_ALIVE_MS = 60_000;

export interface HttpProxyOptions {
  readonly gatekeeper: Gatekeeper;
  readonly upstream: Upstream;
  /** Aborts when the proxy ends. */
  readonly signal: AbortSignal;
}

/** A server for HTTP requests that are meant for others, and for tunnels. It listens nowhere yet. */
export function createHttpProxy(options: HttpProxyOptions): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: HEAD_TIMEOUT_MS,
    // An upload takes as long as it takes.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.maxConnections = MAX_CONNECTIONS;
  // One for each of its requests listens for its end.
  server.on('connection', (socket) => socket.setMaxListeners(0));
  let underWay = 0;
  server.on('request', (request, response) => {
    if (underWay >= MAX_REQUESTS) {
      answerText(response, 503, 'too many requests');
      return;
    }
    underWay++;
    whenOver(request, response, () => underWay--);
    forwardRequest(options, request, response).catch(() => response.destroy());
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    openTunnel(options, request, socket, head).catch(() => socket.destroy());
  });
  return server;
}

/** Calls `end` once an answer is over, or its connection: a response whose turn has not come is not told of that. */
function whenOver({ socket }: IncomingMessage, response: ServerResponse, end: () => void): void {
  const over = () => {
    socket.off('close', over);
    response.off('close', over);
    end();
  };
  socket.on('close', over);
  response.on('close', over);
}

async function forwardRequest(
  { gatekeeper, upstream, signal }: HttpProxyOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const common = {
    method: request.method ?? '',
    client: clientOf(request.socket),
    protocol: 'http',
  } as const;
  if (request.headers['x-unix-socket'] !== undefined) {
    gatekeeper.refuse({ ...common, host: 'unix-socket', port: 0 }, 'unix_socket_unsupported');
    answerText(response, 501, 'unix sockets unsupported');
    return;
  }
  let target: HttpTarget;
  try {
    target = readHttpTarget(request.url ?? '', request.headers.host);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    answerText(response, 400, error.message);
    return;
  }
  const wanted: AccessRequest = { ...common, host: target.host, port: target.port };
  const access = await gatekeeper.admit(wanted);
  if (!access.allowed) {
    answerDenied(response, wanted, access.denial);
    return;
  }
  try {
    const origin = await exchange(upstream, { request, response, wanted, path: target.path, access, signal });
    response.writeHead(origin.statusCode ?? 502, origin.statusMessage ?? '', forwardedHeaders(origin));
    // The rest of a request that was answered early would be taken for the next one.
    pipeline(origin, response, () => request.complete || request.socket.destroySoon());
  } catch {
    answerText(response, 502, 'upstream failure');
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  /** With which the connection ends that was made for it. */
  readonly response: ServerResponse;
  readonly wanted: AccessRequest;
  readonly path: string;
  readonly access: Extract<Access, { allowed: true }>;
  readonly signal: AbortSignal;
}

/** Sends a request on, on a connection of its own, and resolves with the head of the answer. */
async function exchange(upstream: Upstream, parts: Exchange): Promise<IncomingMessage> {
  const { request, response, wanted, access, signal } = parts;
  const proxy = upstream.proxyFor(wanted);
  const credentials = proxy && basicCredentials(proxy);
  const socket = await (proxy === undefined
    ? upstream.connect(wanted, access.addresses, signal)
    : upstream.connectToProxy(proxy, signal));
  whenOver(request, response, () => socket.destroy());
  // The program may have gone while the connection was made.
  if (request.socket.destroyed) socket.destroy();
  socket.setTimeout(TUNNEL_IDLE_MS, () => socket.destroy());
  const encoding = request.headers['transfer-encoding'];
  const onward = requestHttp({
    method: request.method,
    path: proxy === undefined ? parts.path : `http://${spellHost(wanted.host)}:${wanted.port}${parts.path}`,
    createConnection: () => socket,
    setHost: false,
    headers: [
      ...forwardedHeaders(request),
      ...(encoding === undefined ? [] : ['Transfer-Encoding', encoding]),
      ...(credentials === undefined ? [] : ['Proxy-Authorization', credentials]),
    ],
  });
  return new Promise((resolve, reject) => {
    onward.on('response', resolve);
    onward.on('error', reject);
    onward.on('close', () => reject(new Error('the connection ended without an answer')));
    request.pipe(onward);
  });
}

async function openTunnel(
  { gatekeeper, upstream, signal }: HttpProxyOptions,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  // From here on the socket is ours, its errors included.
  socket.on('error', () => socket.destroy());
  const authority = parseAuthority(request.url ?? '');
  if (authority === undefined) {
    answerConnect(socket, '400 Bad Request', 'invalid host');
    return;
  }
  const wanted: AccessRequest = {
    ...authority,
    protocol: 'https_connect',
    method: 'CONNECT',
    client: clientOf(socket),
  };
  const access = await gatekeeper.admit(wanted);
  if (!access.allowed) {
    const { code, message } = explainDenial(access.denial.reason);
    answerConnect(socket, '403 Forbidden', message, code);
    return;
  }
  let remote: Socket;
  try {
    remote = await upstream.connect(wanted, access.addresses, signal);
  } catch {
    answerConnect(socket, '502 Bad Gateway', 'upstream failure');
    return;
  }
  if (socket.destroyed) {
    remote.destroy();
    return;
  }
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  if (head.length > 0) remote.write(head);
  joinSockets(socket, remote);
}
