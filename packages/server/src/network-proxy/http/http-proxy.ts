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
import type { Upstream } from '../upstream.js';
import { answerConnect, answerDenied, answerText } from './answers.js';
import {
  type Authority,
  absoluteForm,
  type HttpTarget,
  parseAuthority,
  readHttpTarget,
  refuseOtherHost,
  spellHostHeader,
} from './authority.js';
import { BadRequestError } from './bad-request.js';
import { forwardedRequestHeaders, forwardedResponseHeaders } from './forwarded-headers.js';
import { type Framing, readRequestHead, spellFraming } from './request-head.js';

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
    // Not even where the whole process is told to be lenient.
    insecureHTTPParser: false,
    headersTimeout: HEAD_TIMEOUT_MS,
    // An upload takes as long as it takes.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Beyond some number headers would be left out in silence, the length of a body among them; their bytes are limited.
  server.maxHeadersCount = 0;
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
  // What comes behind a wish for another protocol is not read as requests.
  if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close');
  let target: HttpTarget;
  let framing: Framing;
  try {
    const head = readRequestHead(request);
    framing = head.framing;
    target = readHttpTarget(common.method, request.url ?? '', head.named);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    // Where it ends is not sure, either.
    response.setHeader('connection', 'close');
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
    const parts = { request, response, wanted, path: target.path, framing, access, signal };
    const origin = await exchange(upstream, parts);
    response.writeHead(
      origin.statusCode ?? 502,
      origin.statusMessage ?? '',
      forwardedResponseHeaders(origin),
    );
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
  readonly framing: Framing;
  readonly access: Extract<Access, { allowed: true }>;
  readonly signal: AbortSignal;
}

/** Sends a request on, on a connection of its own, and resolves with the head of the answer. */
async function exchange(upstream: Upstream, parts: Exchange): Promise<IncomingMessage> {
  const { request, response, wanted, path, framing, access, signal } = parts;
  const proxy = upstream.proxyFor(wanted);
  const credentials = proxy && basicCredentials(proxy);
  const socket = await (proxy === undefined
    ? upstream.connect(wanted, access.addresses, signal)
    : upstream.connectToProxy(proxy, signal));
  whenOver(request, response, () => socket.destroy());
  // The program may have gone while the connection was made.
  if (request.socket.destroyed) socket.destroy();
  socket.setTimeout(TUNNEL_IDLE_MS, () => socket.destroy());
  const onward = requestHttp({
    method: request.method,
    path: proxy === undefined ? path : absoluteForm(wanted, path),
    createConnection: () => socket,
    setHost: false,
    insecureHTTPParser: false,
    headers: [
      'Host',
      spellHostHeader(wanted),
      ...forwardedRequestHeaders(request),
      ...spellFraming(wanted.method ?? '', framing),
      'Connection',
      'close',
      ...(credentials === undefined ? [] : ['Proxy-Authorization', credentials]),
    ],
  });
  return new Promise((resolve, reject) => {
    onward.on('response', (origin) => {
      if (/^(chunked)?$/i.test(origin.headers['transfer-encoding'] ?? '')) resolve(origin);
      else onward.destroy(new Error('the answer has an encoding that would be lost on the way'));
    });
    onward.on('error', reject);
    onward.on('close', () => reject(new Error('the connection ended without an answer')));
    if (framing === 'none') onward.end();
    else request.pipe(onward);
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
  let authority: Authority;
  try {
    authority = readTunnelTarget(request);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    answerConnect(socket, '400 Bad Request', error.message);
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

/** Where a CONNECT wants to go. Throws {@link BadRequestError}. */
function readTunnelTarget(request: IncomingMessage): Authority {
  const authority = parseAuthority(request.url ?? '');
  if (authority === undefined) throw new BadRequestError('invalid host');
  // Some clients leave out the port in the Host of a tunnel.
  const { framing, named } = readRequestHead(request, authority.port);
  // What follows is the tunnel's, and no body that somebody else might see in it.
  if (framing !== 'none') throw new BadRequestError('a CONNECT has no body');
  refuseOtherHost(authority, named);
  return authority;
}
