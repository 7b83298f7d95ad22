import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A finished answer to an HTTP request. An empty body has no content type. */
export interface HttpAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpSurfaceOptions {
  /** Compared exactly. A request without an `Origin` comes from no browser and passes. */
  readonly allowedOrigins: readonly string[];
  readonly isOwnHost: (host: string | undefined) => boolean;
  readonly hasMetrics: boolean;
}

/** `GET` of these says that the server takes connections. */
const PROBE_PATHS: ReadonlySet<string> = new Set(['/readyz', '/healthz']);

const METRICS_PATH = '/metrics';

const WEBSOCKET_KEY = /^[A-Za-z0-9+/]{22}==$/;

/**
 * Decides what an HTTP request gets, in the order that clients can observe: origin, host, path, upgrade headers.
 * `upgrade` and `metrics` mean that nothing is wrong with it so far and the credential is next.
 */
export function decideRequest(
  request: IncomingMessage,
  options: HttpSurfaceOptions,
): HttpAnswer | 'upgrade' | 'metrics' {
  const { origin } = request.headers;
  if (origin !== undefined && !options.allowedOrigins.includes(origin)) return { status: 403 };
  const fault = findHostFault(request, options.isOwnHost);
  if (fault !== undefined) return fault;
  const path = requestPath(request.url ?? '/');
  if (PROBE_PATHS.has(path)) return answerProbe(request.method);
  // Whichever origins may connect, no page has a use for these.
  if (path === METRICS_PATH && options.hasMetrics)
    return origin === undefined ? (findMethodFault(request.method) ?? 'metrics') : { status: 403 };
  if (path !== '/') return { status: 404 };
  return findUpgradeFault(request) ?? 'upgrade';
}

/** Of two, Node would show the first, and whoever else reads the request perhaps the second. */
const SINGLE_HEADERS: readonly string[] = ['Host', 'Authorization'];

function findHostFault(
  { headers: { host }, rawHeaders, httpVersion, url = '/' }: IncomingMessage,
  isOwnHost: HttpSurfaceOptions['isOwnHost'],
): HttpAnswer | undefined {
  for (const header of SINGLE_HEADERS) {
    const isIt = (text: string, index: number) =>
      index % 2 === 0 && text.toLowerCase() === header.toLowerCase();
    if (rawHeaders.filter(isIt).length > 1) return { status: 400, body: `more than one ${header} header` };
  }
  if (host === undefined && httpVersion !== '1.0') return { status: 400, body: 'Host header missing' };
  const named = ABSOLUTE_FORM.exec(url)?.[1];
  const isOwn = isOwnHost(host) && (named === undefined || isOwnHost(named));
  return isOwn ? undefined : { status: 403, body: 'Host header does not name this server' };
}

function answerProbe(method: string | undefined): HttpAnswer {
  return findMethodFault(method) ?? { status: 200 };
}

function findMethodFault(method: string | undefined): HttpAnswer | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  return { status: 405, headers: { allow: 'GET,HEAD' } };
}

function findUpgradeFault(request: IncomingMessage): HttpAnswer | undefined {
  const { headers } = request;
  if (request.method !== 'GET') return { status: 405, body: 'Request method must be `GET`' };
  if (!hasToken(headers.connection, 'upgrade')) {
    return { status: 400, body: "Connection header did not include 'upgrade'" };
  }
  if (headers.upgrade?.toLowerCase() !== 'websocket') {
    return { status: 400, body: "`Upgrade` header did not include 'websocket'" };
  }
  if (headers['sec-websocket-version'] !== '13') {
    return { status: 400, body: "`Sec-WebSocket-Version` header did not include '13'" };
  }
  const key = headers['sec-websocket-key'];
  if (key === undefined) return { status: 400, body: '`Sec-WebSocket-Key` header missing' };
  if (!WEBSOCKET_KEY.test(key))
    return { status: 400, body: '`Sec-WebSocket-Key` header is not 16 bytes in base64' };
  if (request.httpVersion !== '1.1') {
    return {
      status: 426,
      body: "WebSocket request couldn't be upgraded since no upgrade state was present",
    };
  }
  return undefined;
}

function hasToken(header: string | undefined, token: string): boolean {
  return header?.split(',').some((part) => part.trim().toLowerCase() === token) ?? false;
}

/** A target that names the server as well. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/** The path without its query; a target in absolute form counts as its path. */
function requestPath(target: string): string {
  const local = target.replace(ABSOLUTE_FORM, '').replace(/[?#].*$/s, '');
  return local === '' ? '/' : local;
}

export function sendAnswer(response: ServerResponse, answer: HttpAnswer): void {
  response.statusCode = answer.status;
  if (answer.body !== undefined) response.setHeader('content-type', 'text/plain; charset=utf-8');
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  response.setHeader('content-length', Buffer.byteLength(answer.body ?? ''));
  response.end(answer.body);
}

/** Answers a request that asked for an upgrade, for which Node makes no response object, and ends its connection. */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, answer: HttpAnswer): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.on('finish', () => socket.end(() => socket.destroy()));
  sendAnswer(response, answer);
}
