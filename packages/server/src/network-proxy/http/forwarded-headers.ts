import type { IncomingMessage } from 'node:http';

/** Headers that are between two neighbours. */
const HOP_BY_HOP: readonly string[] = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // The proxy has asked for the body itself by then.
  'expect',
];

/** Headers that are written anew from what was read and judged. */
const OWN_OF_REQUESTS: readonly string[] = ['host', 'content-length'];

/** The headers of a request that go on to the next one, as name, value, name, value; without its host and its length. */
export function forwardedRequestHeaders(request: IncomingMessage): string[] {
  return keepHeaders(request, OWN_OF_REQUESTS);
}

/** The headers of an answer that go back, in the same form. */
export function forwardedResponseHeaders(response: IncomingMessage): string[] {
  return keepHeaders(response, []);
}

function keepHeaders({ rawHeaders, headers }: IncomingMessage, own: readonly string[]): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...own, ...named]);
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!dropped.has(name.toLowerCase())) kept.push(name, rawHeaders[index + 1] ?? '');
  }
  return kept;
}
