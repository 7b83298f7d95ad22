import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { basicCredentials, groupByName, type Header, hasHeader } from './header-list.js';
import { type HttpBody, StreamedBody } from './http-body.js';
import { portToDial, withoutSecrets } from './parse-url.js';
import { DIRECT_BODY_BYTES, PlainConnection } from './plain-connection.js';
import type { OutgoingRequest } from './prepare-request.js';

/** Three digits without a zero in front are a status; Node reads others too. */
const LOWEST_STATUS = 100;

/** Responses that have no body, whatever their headers say. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/** Largest head of a response, in bytes. */
export const MAX_RESPONSE_HEAD_BYTES = 1024 * 1024;

/** A header value that is text: visible ASCII, spaces and tabs. */
const VISIBLE = /^[\t\x20-\x7e]*$/;

/** The head of a response, and its body as it comes in. */
export interface HttpResponse {
  readonly status: number;
  /** Without those that are not text. */
  readonly headers: readonly Header[];
  readonly body: HttpBody;
  /** Ends the connection; what was not read is lost. */
  discard(): void;
}

/**
 * Sends one request on a connection of its own and resolves with the head of the response. The connection ends with the
 * body and is not used again: on one that the other side is just about to end, a request is lost that nobody may repeat.
 * On failure the connection is left to the caller.
 */
export function exchange(
  connection: Duplex,
  request: OutgoingRequest,
  proxy: URL | undefined,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const message = httpRequest({
      method: request.method,
      path: requestTarget(request, proxy),
      setHost: false,
      maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
      createConnection: () => connection,
    });
    // The constructor turns methods into upper case, but they have a case.
    message.method = request.method;
    // The size is limited already, and headers beyond a count would be dropped in silence.
    message.maxHeadersCount = 0;
    // Removed is what would be added otherwise.
    for (const name of ['connection', 'content-length', 'transfer-encoding']) message.removeHeader(name);
    for (const [name, values] of groupByName(completeHeaders(request, proxy)))
      message.setHeader(name, values.length === 1 ? (values[0] as string) : values);
    const switched = (response: IncomingMessage) => {
      connection.destroy();
      // The other protocol is not ours to speak.
      resolve(describeResponse(response, new StreamedBody(Readable.from([]))));
    };
    message.on('upgrade', switched);
    message.on('connect', switched);
    message.on('response', (response) => {
      // Headers of the caller can make the connection look as if it were to be used again.
      response.on('close', () => connection.destroy());
      if ((response.statusCode ?? 0) < LOWEST_STATUS) {
        response.destroy();
        reject(new Error('the response has no valid status'));
        return;
      }
      resolve(describeResponse(response, bodyOf(response, request.method, connection)));
    });
    message.on('error', reject);
    message.end(request.body);
  });
}

/** The body of a response whose head the parser has just read; a long one of known length comes without the parser. */
function bodyOf(response: IncomingMessage, method: string, connection: Duplex): HttpBody {
  if (!(connection instanceof PlainConnection)) return new StreamedBody(response);
  const length = directLength(response, method);
  const direct = length === undefined ? undefined : connection.takeBody(length);
  if (direct !== undefined) return direct;
  connection.passBodyOn();
  return new StreamedBody(response);
}

/** Length of a body that is nothing but that many bytes, if it is a long one. */
function directLength({ statusCode, headers }: IncomingMessage, method: string): number | undefined {
  const length = Number(headers['content-length']);
  const isDirect =
    length >= DIRECT_BODY_BYTES &&
    Number.isSafeInteger(length) &&
    headers['transfer-encoding'] === undefined &&
    method !== 'HEAD' &&
    !BODILESS.has(statusCode ?? 0);
  return isDirect ? length : undefined;
}

/** What stands in the first line: a path, or the whole URL for a proxy that is to fetch it. */
function requestTarget({ method, url }: OutgoingRequest, proxy: URL | undefined): string {
  if (method === 'CONNECT') return `${url.hostname}:${portToDial(url)}`;
  const { href, origin } = withoutSecrets(url);
  return isFetchedBy(proxy, url) ? href : href.slice(origin.length);
}

function isFetchedBy(proxy: URL | undefined, url: URL): proxy is URL {
  return proxy !== undefined && url.protocol === 'http:';
}

/** Adds what a request cannot do without. */
function completeHeaders(request: OutgoingRequest, proxy: URL | undefined): Header[] {
  const { url, body } = request;
  const headers = [...request.headers];
  const addMissing = (name: string, value: string | undefined) => {
    if (value !== undefined && !hasHeader(headers, name)) headers.push([name, value]);
  };
  addMissing('accept', '*/*');
  if (isFetchedBy(proxy, url)) addMissing('proxy-authorization', basicCredentials(proxy));
  addMissing('host', url.host);
  if (body.length > 0 && !hasHeader(headers, 'transfer-encoding'))
    addMissing('content-length', String(body.length));
  return headers;
}

function describeResponse(message: IncomingMessage, body: HttpBody): HttpResponse {
  const { statusCode = 0, rawHeaders } = message;
  const received: Header[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const value = rawHeaders[i + 1] as string;
    if (VISIBLE.test(value)) received.push([(rawHeaders[i] as string).toLowerCase(), value]);
  }
  const headers = [...groupByName(received)].flatMap(([name, values]) =>
    values.map((value): Header => [name, value]),
  );
  return { status: statusCode, headers, body, discard: () => message.destroy() };
}
