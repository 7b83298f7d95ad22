import { matchesWildcard } from '../../process/wildcard.js';
import { ProxyConfigError } from '../proxy-config-error.js';
import { normalizeHost, trimDots } from './host-name.js';

/** Longest pattern, in characters; hosts have at most 253. */
export const MAX_PATTERN_CHARACTERS = 1_024;

/** Says which hosts are meant. */
export interface DomainPattern {
  /** `host` is normalized. */
  readonly matches: (host: string) => boolean;
  /** The one host that is meant, if it is one. */
  readonly host?: string;
  /** Every host is meant. */
  readonly isGlobal?: true;
}

/**
 * Reads a pattern: `example.com` is that host, `*.example.com` all below it, `**.example.com` both, `*` every host. A `*`
 * elsewhere stands for any run of characters, dots included, a `?` for any one. Throws {@link ProxyConfigError}.
 */
export function parseDomainPattern(text: string): DomainPattern {
  if (text.length > MAX_PATTERN_CHARACTERS)
    throw new ProxyConfigError(
      `domain patterns have at most ${MAX_PATTERN_CHARACTERS} characters, this one has ${text.length}`,
    );
  const pattern = text.trim();
  if (pattern === '') throw new ProxyConfigError('domain pattern is empty');
  if (pattern === '*' || pattern === '**') return { matches: () => true, isGlobal: true };
  if (pattern.startsWith('**.')) {
    const apex = parseDomainPattern(pattern.slice(3));
    const below = parseDomainPattern(pattern.slice(1));
    return { matches: (host) => apex.matches(host) || below.matches(host) };
  }
  if (/[*?]/.test(pattern)) return parseWildcards(pattern);
  const host = normalizeHost(pattern);
  if (host === undefined) throw refusal(pattern);
  return { matches: (candidate) => candidate === host, host };
}

function parseWildcards(pattern: string): DomainPattern {
  const glob = trimDots(pattern.replace(/^\*\./, '?*.'));
  // What stands between the wildcards has to be part of a host.
  if (normalizeHost(glob.replaceAll(/[*?]+/g, 'x')) === undefined) throw refusal(pattern);
  return { matches: (host) => matchesWildcard(host, glob) };
}

function refusal(pattern: string): ProxyConfigError {
  return /[[\]]/.test(pattern)
    ? new ProxyConfigError(`brackets are only supported for IPv6 literals or [*]: ${pattern}`)
    : new ProxyConfigError(`invalid domain pattern: ${pattern}`);
}
