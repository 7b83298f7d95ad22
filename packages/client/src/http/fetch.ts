import { ErrorCode, encodeBase64, MAX_HTTP_REDIRECTS } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { ExecServerError, RejectedError } from '../errors.js';
import type { ExecServerClient, HttpResponseStream } from '../low-level/exec-server-client.js';
import { requireWholeNumber, usageError } from '../usage.js';
import { findLocation, type Header, type PreparedRequest, redirectRequest } from './redirect.js';
import { collectBody, type FetchBody } from './request-body.js';
import { toResponse } from './response.js';

/** Options of `fetch`: those of the global one that make sense for another host, and a time limit. */
export interface FetchOptions {
  /** @default 'GET' */
  readonly method?: string;
  readonly headers?: HeadersInit;
  /** At most 47 MiB; a stream is collected before anything is sent. */
  readonly body?: FetchBody;
  /** Rejects the call, or ends the body, with its reason; the server cancels the request where it can. */
  readonly signal?: AbortSignal | null;
  /** `manual` answers with the redirect itself; `error` rejects. At most 10 are followed. @default 'follow' */
  readonly redirect?: 'follow' | 'manual' | 'error';
  /** Time for the response with its whole body, redirects included, in milliseconds. @default none */
  readonly timeoutMs?: number;
}

/** A `Request`, or as much of one as a call needs. */
export interface RequestLike {
  readonly url: string;
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: FetchBody;
  readonly signal?: AbortSignal | null;
  readonly redirect?: 'follow' | 'manual' | 'error';
}

/**
 * Makes an HTTP request from the server's host, as the global `fetch` does it from this one. A status is never an error;
 * a request that gets no response, or a body that breaks off, is one with code `http`.
 */
export type Fetch = (input: string | URL | RequestLike, options?: FetchOptions) => Promise<Response>;

/** What requests go through. */
export type HttpClient = Pick<ExecServerClient, 'httpRequestStream'>;

const OPTIONS = ['method', 'headers', 'body', 'signal', 'redirect', 'timeoutMs'];

/** Makes a `fetch` that runs on the host that a client is connected to. */
export function createFetch(client: HttpClient): Fetch {
  return async (input, options = {}) => {
    // Half duplex is what there is; the global `fetch` wants to be told so.
    const { duplex: _, ...told } = options as FetchOptions & { readonly duplex?: 'half' };
    checkOptions('fetch', told, OPTIONS);
    const [url, defaults] = splitInput(input);
    const { signal, ...rest } = { ...defaults, ...told };
    signal?.throwIfAborted();
    const request = await prepareRequest(url, rest, signal ?? undefined);
    return followRedirects(client, request, rest, signal ?? undefined);
  };
}

/** Members of a `Request` are no own properties, so that each has to be named. */
function splitInput(input: string | URL | RequestLike): [string | URL, FetchOptions] {
  if (typeof input === 'string' || input instanceof URL) return [input, {}];
  const { url, method, headers, body, signal, redirect } = input;
  return [
    url,
    {
      ...(method !== undefined && { method }),
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
      ...(redirect !== undefined && { redirect }),
    },
  ];
}

async function prepareRequest(
  address: string | URL,
  { method = 'GET', headers, body: given, redirect, timeoutMs }: FetchOptions,
  signal: AbortSignal | undefined,
): Promise<PreparedRequest> {
  requireWholeNumber('timeoutMs', timeoutMs);
  if (redirect !== undefined && !['follow', 'manual', 'error'].includes(redirect))
    throw usageError(`redirect must be follow, manual or error: ${String(redirect)}`);
  if (!URL.canParse(address)) throw usageError(`not an absolute URL: ${String(address)}`);
  const verb = normalizeMethod(method);
  const body = await collectBody(given, signal);
  if (body !== undefined && (verb === 'GET' || verb === 'HEAD'))
    throw usageError(`a ${verb} request has no body`);
  return { method: verb, url: new URL(address), headers: listHeaders(headers, body?.contentType), body };
}

/** As fetch does it: methods that everybody knows are upper case, others are as given. */
function normalizeMethod(method: string): string {
  const upperCase = method.toUpperCase();
  return ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'].includes(upperCase) ? upperCase : method;
}

/** With repeats, which a `Headers` would join. */
function listHeaders(headers: HeadersInit = [], contentType: string | undefined): Header[] {
  const listed: Header[] = isPairs(headers) ? [...headers].map(toHeader) : Object.entries(headers);
  const isTyped = listed.some(([name]) => name.toLowerCase() === 'content-type');
  return contentType === undefined || isTyped ? listed : [...listed, ['content-type', contentType]];
}

function isPairs(headers: HeadersInit): headers is Headers | [string, string][] {
  return Symbol.iterator in headers;
}

function toHeader([name, value]: readonly string[]): Header {
  if (name === undefined || value === undefined) throw usageError('a header is a name and a value');
  return [name, value];
}

/** Here and not on the server, which does not tell where it ended up. */
async function followRedirects(
  client: HttpClient,
  first: PreparedRequest,
  { redirect = 'follow', timeoutMs }: FetchOptions,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const deadline = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  let request = first;
  for (let redirects = 0; ; redirects++) {
    const response = await send(client, request, deadline, signal);
    const headers = response.headers.map(({ name, value }): Header => [name, value]);
    const location = redirect === 'manual' ? undefined : findLocation(response.status, headers);
    if (location === undefined)
      return toResponse(response, { url: request.url, redirected: redirects > 0 }, signal);
    // Nobody reads the body of a redirect.
    void response.body.return?.();
    if (redirect === 'error') throw httpError(request, `redirects to ${location}`);
    if (redirects === MAX_HTTP_REDIRECTS)
      throw httpError(
        request,
        `is redirect ${redirects + 1} in a row; at most ${MAX_HTTP_REDIRECTS} are followed`,
      );
    request = redirectRequest(request, response.status, parseLocation(request, location));
  }
}

function parseLocation(request: PreparedRequest, location: string): URL {
  if (!URL.canParse(location, request.url.href)) throw httpError(request, `redirects to no URL: ${location}`);
  const url = new URL(location, request.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw httpError(request, `redirects out of HTTP, to ${url.protocol}`);
  // A fragment stays unless the redirect names one.
  if (url.hash === '') url.hash = request.url.hash;
  return url;
}

async function send(
  client: HttpClient,
  { method, url, headers, body }: PreparedRequest,
  deadline: number | undefined,
  signal: AbortSignal | undefined,
): Promise<HttpResponseStream> {
  const params = {
    method,
    url: url.href,
    headers: headers.map(([name, value]) => ({ name, value })),
    ...(body !== undefined && { bodyBase64: encodeBase64(body.bytes) }),
    ...(deadline !== undefined && { timeoutMs: Math.max(0, Math.ceil(deadline - performance.now())) }),
    redirectPolicy: 'stop' as const,
  };
  try {
    return await client.httpRequestStream(params, signal && { signal });
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    const code = error.rpcCode === ErrorCode.invalidParams ? 'usage' : 'http';
    const { message, rpcCode, data, retryable } = error;
    throw new RejectedError(message, rpcCode, { code, cause: error, data, retryable });
  }
}

/** Names the request without what its URL may hold in secret. */
function httpError({ method, url }: PreparedRequest, problem: string): ExecServerError {
  return new ExecServerError('http', `${method} ${url.origin}${url.pathname} ${problem}`);
}
