import type { IncomingMessage } from 'node:http';

/** Headers that are between two neighbours; `transfer-encoding` is set anew for the next pair. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
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
]);

/** The headers of a message that go on to the next one, as name, value, name, value. */
export function forwardedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // A `Connection: host` must not take away what the request is about.
    if (!dropped.has(name.toLowerCase()) || name.toLowerCase() === 'host')
      kept.push(name, rawHeaders[index + 1] ?? '');
  }
  return kept;
}
