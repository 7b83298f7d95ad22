import type { Header } from './header-list.js';
import { HttpError } from './http-error.js';
import { isHttp, withoutSecrets } from './parse-url.js';
import type { OutgoingRequest } from './prepare-request.js';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that speak about a body; they go with it. */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
]);

/** Headers that were meant for one origin only. */
const ORIGIN_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'cookie2',
  'proxy-authorization',
  'www-authenticate',
]);

/**
 * The request that a response asks for in place of `request`, or nothing when it is no redirect or none that can be
 * understood. Throws an {@link HttpError} when it leads out of HTTP.
 */
export function redirectedRequest(
  request: OutgoingRequest,
  status: number,
  headers: readonly Header[],
): OutgoingRequest | undefined {
  const location = headers.find(([name]) => name === 'location')?.[1];
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url.href))
    return undefined;
  const url = new URL(location, request.url);
  if (!isHttp(url))
    throw new HttpError(
      'no-response',
      `redirect target uses unsupported URL scheme: ${url.protocol.slice(0, -1)}`,
    );
  const method = redirectedMethod(request.method, status);
  const keepsBody = method === request.method && status !== 303;
  const sameOrigin = url.origin === request.url.origin;
  const kept = request.headers.filter(
    ([name]) =>
      name !== 'referer' &&
      (keepsBody || !BODY_HEADERS.has(name)) &&
      (sameOrigin || !ORIGIN_HEADERS.has(name)),
  );
  return {
    method,
    url,
    headers: [...kept, ...referer(request.url, url)],
    body: keepsBody ? request.body : Buffer.alloc(0),
  };
}

function redirectedMethod(method: string, status: number): string {
  if (status === 303) return method === 'HEAD' ? 'HEAD' : 'GET';
  return method === 'POST' && (status === 301 || status === 302) ? 'GET' : method;
}

/** Where the request came from: in full for the same origin, the bare origin for others, nothing for the clear. */
function referer(from: URL, to: URL): Header[] {
  if (from.protocol === 'https:' && to.protocol === 'http:') return [];
  return [['referer', from.origin === to.origin ? withoutSecrets(from).href : `${from.origin}/`]];
}
