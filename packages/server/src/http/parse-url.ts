import { domainToUnicode } from 'node:url';
import { HttpError } from './http-error.js';

const INVALID_NAME = 'invalid international domain name';

/** A label that claims to be an encoded international one. */
const ENCODED_LABEL = /(^|\.)xn--/;

/** Reads an absolute `http:` or `https:` URL. Host names come out in ASCII. Throws an {@link HttpError}. */
export function parseHttpUrl(text: string): URL {
  if (!URL.canParse(text)) throw invalid(findProblem(text));
  const url = new URL(text);
  // From Node 24 on such names pass, although nobody can have one.
  if (ENCODED_LABEL.test(url.hostname) && ENCODED_LABEL.test(domainToUnicode(url.hostname)))
    throw invalid(INVALID_NAME);
  if (!isHttp(url)) {
    const scheme = url.protocol.slice(0, -1);
    throw new HttpError('refused', `only supports http and https URLs, got ${scheme}`);
  }
  return url;
}

function invalid(problem: string): HttpError {
  return new HttpError('refused', `url is invalid: ${problem}`);
}

export function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:';
}

/** What goes into messages: everything but the user and the password. */
export function withoutCredentials(url: URL): URL {
  const copy = new URL(url);
  copy.username = '';
  copy.password = '';
  return copy;
}

/** What a server may see of a URL: no user, no password, no fragment. */
export function withoutSecrets(url: URL): URL {
  const copy = withoutCredentials(url);
  copy.hash = '';
  return copy;
}

/** The host of a URL as sockets take it: an IPv6 address without its brackets. */
export function hostToDial({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The port of a URL, also when it is the scheme's own and therefore left out. */
export function portToDial({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/** Puts the reason into words; the platform gives none. */
function findProblem(text: string): string {
  const authority = /^\s*[a-z][a-z0-9+.-]*:[/\\]*([^/\\?#]*)/i.exec(text)?.[1];
  if (authority === undefined) return 'relative URL without a base';
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  const [, host = '', port = ''] = /^(\[[^\]]*\]?|[^:]*)(.*)$/s.exec(hostAndPort) ?? [];
  if (host === '') return 'empty host';
  if (host.startsWith('[') && !URL.canParse(`http://${host}/`)) return 'invalid IPv6 address';
  if (port !== '' && !URL.canParse(`http://host${port}/`)) return 'invalid port number';
  if (/(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(host)) return 'invalid IPv4 address';
  return INVALID_NAME;
}
