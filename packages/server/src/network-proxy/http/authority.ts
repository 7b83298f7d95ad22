import { portToDial } from '../../http/parse-url.js';
import { normalizeHost } from '../rules/host-name.js';

/** A host, normalized, and a port. */
export interface Authority {
  readonly host: string;
  readonly port: number;
}

/** Reads `host`, `host:port` or `[address]:port`; without a port it is that of HTTP. Nothing for anything else. */
export function parseAuthority(text: string): Authority | undefined {
  const [, hostText, portText] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = normalizeHost(hostText ?? '');
  const port = Number(portText ?? 80);
  return host === undefined || port > 0xffff ? undefined : { host, port };
}

/** Where a request to a proxy wants to go: what its target says, or else its `Host`. */
export interface HttpTarget extends Authority {
  /** The target as the origin expects it. */
  readonly path: string;
}

/** A request that says nothing, something else than HTTP, or two different things. The message is the answer. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/** Throws {@link TargetError}. */
export function readHttpTarget(target: string, hostHeader: string | undefined): HttpTarget {
  const named = hostHeader === undefined ? undefined : parseAuthority(hostHeader);
  if (target.startsWith('/') || target === '*') {
    if (named === undefined) throw new TargetError('missing host');
    return { ...named, path: target };
  }
  if (!URL.canParse(target)) throw new TargetError('invalid request target');
  const url = new URL(target);
  if (url.protocol !== 'http:') throw new TargetError('only http is forwarded; use CONNECT');
  const host = normalizeHost(url.hostname);
  if (host === undefined) throw new TargetError('missing host');
  const authority = { host, port: portToDial(url) };
  if (named !== undefined && (named.host !== authority.host || named.port !== authority.port))
    throw new TargetError('Host header does not match request target');
  return { ...authority, path: `${url.pathname}${url.search}` };
}
