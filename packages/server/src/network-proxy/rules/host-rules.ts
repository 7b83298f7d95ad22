import { ProxyConfigError } from '../proxy-config-error.js';
import { type DomainPattern, parseDomainPattern } from './domain-pattern.js';
import { embeddedIpv4 } from './embedded-ipv4.js';
import { normalizeHost } from './host-name.js';
import { isLocalAddress, isLocalHost } from './local-address.js';

/** What the rules say of a host before it is looked up. `not_allowed` is nobody's rule, which somebody may overrule. */
export type HostVerdict = 'allowed' | 'denied' | 'not_allowed' | 'not_allowed_local';

export interface HostRuleOptions {
  readonly domains: Readonly<Record<string, 'none' | 'allow' | 'deny'>>;
  /** Patterns of hosts that no rule allows for good. */
  readonly reviewDomains: readonly string[];
  /** Whether local addresses count like all others. */
  readonly allowLocalBinding: boolean;
}

/** Which hosts may be reached. Hosts are normalized. */
export class HostRules {
  readonly #allowed: readonly DomainPattern[];
  readonly #denied: readonly DomainPattern[];
  readonly #reviewed: readonly DomainPattern[];
  readonly #allowLocal: boolean;

  /** Throws {@link ProxyConfigError}. */
  constructor({ domains, reviewDomains, allowLocalBinding }: HostRuleOptions) {
    const patterns = (access: string) =>
      Object.keys(domains)
        .filter((pattern) => domains[pattern] === access)
        .map(parseDomainPattern);
    this.#allowed = patterns('allow');
    this.#denied = patterns('deny');
    this.#reviewed = reviewDomains.map(parseDomainPattern);
    this.#allowLocal = allowLocalBinding;
    if (this.#denied.some(({ isGlobal }) => isGlobal))
      throw new ProxyConfigError(
        'invalid value for network.denied_domains: * (allowed exact hosts or scoped wildcards like *.example.com or **.example.com)',
      );
  }

  judge(host: string): HostVerdict {
    if (matchesAny(this.#denied, host)) return 'denied';
    if (!this.#allowLocal && isLocalHost(host) && !this.#namesExactly(host)) return 'not_allowed_local';
    if (matchesAny(this.#reviewed, host)) return 'not_allowed';
    return this.#allowed.some((pattern) => pattern.matches(host)) ? 'allowed' : 'not_allowed';
  }

  /**
   * The same for the addresses that a host turned out to have. A name for a local address is one, whoever allowed it: it
   * may name another machine tomorrow, or a moment later.
   */
  judgeAddresses(host: string, addresses: readonly string[]): HostVerdict {
    if (addresses.some((address) => matchesAny(this.#denied, address))) return 'denied';
    if (this.#allowLocal || isLocalHost(host)) return 'allowed';
    return addresses.length === 0 || addresses.some(isLocalAddress) ? 'not_allowed_local' : 'allowed';
  }

  /** A wildcard does not mean local addresses. */
  #namesExactly(host: string): boolean {
    return this.#allowed.some((pattern) => pattern.host === host);
  }
}

/** Whether a host is meant, or an IPv4 address that it leads to: what keeps somebody out of one keeps them out of both. */
function matchesAny(patterns: readonly DomainPattern[], host: string): boolean {
  const spellings = [normalizeHost(host) ?? host, ...embeddedIpv4(host)];
  return patterns.some((pattern) => spellings.some((spelling) => pattern.matches(spelling)));
}
