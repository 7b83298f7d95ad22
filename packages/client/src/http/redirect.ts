import type { RequestBody } from './request-body.js';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that speak about a body; they go with it. */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
]);

/** Headers that are meant for one origin only. */
const ORIGIN_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** A name and its value, which may occur more than once. */
export type Header = readonly [name: string, value: string];

/** A request with everything known about it. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly Header[];
  readonly body: RequestBody | undefined;
}

/** Where a response sends its caller, as it says it; nothing for a response that is no redirect. */
export function findLocation(status: number, headers: readonly Header[]): string | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  return headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
}

/** The request that is made next, by the rules of fetch. */
export function redirectRequest(request: PreparedRequest, status: number, url: URL): PreparedRequest {
  const { method, headers, body } = request;
  const becomesGet =
    status === 303
      ? method !== 'GET' && method !== 'HEAD'
      : (status === 301 || status === 302) && method === 'POST';
  const isSameOrigin = url.origin === request.url.origin;
  return {
    method: becomesGet ? 'GET' : method,
    url,
    body: becomesGet ? undefined : body,
    headers: headers.filter(([name]) => {
      const lowerName = name.toLowerCase();
      return (
        (!becomesGet || !BODY_HEADERS.has(lowerName)) && (isSameOrigin || !ORIGIN_HEADERS.has(lowerName))
      );
    }),
  };
}
