import { isIPv6 } from 'node:net';
import { normalizeHost } from '../rules/host-name.js';
import { spellHost } from '../upstream.js';
import { BadRequestError } from './bad-request.js';

/** Characters of a host name, those of DNS. */
export const MAX_HOST_NAME_LENGTH = 253;

/** Labels as DNS has them, and the underscore that some names have. International names come encoded. */
const HOST_NAME = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i;

/** No port has another spelling: a zero in front is one number here and perhaps another elsewhere. */
const PORT = /^[1-9]\d{0,4}$/;

const HTTP_PORT = 80;

/** A host, normalized, and a port. */
export interface Authority {
  readonly host: string;
  readonly port: number;
}

/** Reads a name, or an address, where IPv6 has brackets; normalized. Nothing for anything else. */
export function parseHost(text: string): string | undefined {
  const [, address] = /^\[([\da-f:.]+)\]$/i.exec(text) ?? [];
  if (address !== undefined) return isIPv6(address) ? normalizeHost(address) : undefined;
  return text.length <= MAX_HOST_NAME_LENGTH && HOST_NAME.test(text) ? normalizeHost(text) : undefined;
}

/** Reads `host:port` or `[address]:port`, in one spelling of the port only. Nothing for anything else. */
export function parseAuthority(text: string, defaultPort?: number): Authority | undefined {
  const [, hostText = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const host = parseHost(hostText);
  if (portText !== undefined && !PORT.test(portText)) return undefined;
  const port = portText === undefined ? defaultPort : Number(portText);
  return host === undefined || port === undefined || port > 0xffff ? undefined : { host, port };
}

/** What a `Host` says: an authority whose port may be left out when it is the usual one, by default that of HTTP. */
export function parseHostHeader(value: string, usualPort = HTTP_PORT): Authority | undefined {
  return parseAuthority(value, usualPort);
}

/** The `Host` for an authority that was judged. */
export function spellHostHeader({ host, port }: Authority): string {
  return port === HTTP_PORT ? spellHost(host) : `${spellHost(host)}:${port}`;
}

/** Where a request to a proxy wants to go: what its target says, or else its `Host`. */
export interface HttpTarget extends Authority {
  /** The target as the origin expects it. */
  readonly path: string;
}

/** Reads the target of a request. `named` is what its `Host` says. Throws {@link BadRequestError}. */
export function readHttpTarget(method: string, target: string, named: Authority | undefined): HttpTarget {
  if (/^\/[^#]*$/.test(target) || (target === '*' && method === 'OPTIONS')) {
    if (named === undefined) throw new BadRequestError('missing host');
    return { ...named, path: target };
  }
  const [, scheme, authorityText = '', path] =
    /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)([/?][^#]*)?$/i.exec(target) ?? [];
  if (scheme === undefined) throw new BadRequestError('invalid request target');
  if (scheme.toLowerCase() !== 'http') throw new BadRequestError('only http is forwarded; use CONNECT');
  if (authorityText === '') throw new BadRequestError('missing host');
  const authority = parseAuthority(authorityText, HTTP_PORT);
  if (authority === undefined) throw new BadRequestError('invalid host');
  refuseOtherHost(authority, named);
  return { ...authority, path: originForm(method, path) };
}

/** Throws {@link BadRequestError} where a `Host` names somebody else than the target does. */
export function refuseOtherHost(target: Authority, named: Authority | undefined): void {
  if (named !== undefined && (named.host !== target.host || named.port !== target.port))
    throw new BadRequestError('Host header does not match request target');
}

function originForm(method: string, path: string | undefined): string {
  if (path === undefined) return method === 'OPTIONS' ? '*' : '/';
  return path.startsWith('/') ? path : `/${path}`;
}

/** The target as another proxy expects it. */
export function absoluteForm(authority: Authority, path: string): string {
  return `http://${spellHost(authority.host)}:${authority.port}${path === '*' ? '' : path}`;
}
