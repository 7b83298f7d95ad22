import { isIP } from 'node:net';
import { isLoopbackAddress, isWildcardAddress } from './ip-address.js';

export interface HostGuardOptions {
  /** The bound IP without brackets. */
  readonly boundAddress: string;
  /** Further names, as `name` or `name:port`. */
  readonly allowedHosts: readonly string[];
}

/**
 * Makes a test of `Host` headers against DNS rebinding: a page whose name the attacker points at this machine
 * reaches the port, but its browser still sends that name. An IP literal cannot be pointed elsewhere.
 */
export function createHostGuard(options: HostGuardOptions): (host: string | undefined) => boolean {
  const named = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const bound = options.boundAddress;
  const takesAnyLiteral = isWildcardAddress(bound) || !isLoopbackAddress(bound);
  return (header) => {
    // Only HTTP/1.0 may be without the header, and no browser speaks it.
    if (header === undefined) return true;
    const host = header.toLowerCase();
    const name = hostName(host);
    if (name === 'localhost' || name === bound || named.has(name) || named.has(host)) return true;
    return isIP(name) !== 0 && (takesAnyLiteral || isLoopbackAddress(name));
  };
}

/** The header without its port and without the brackets of an IPv6 address. */
function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1];
  return bracketed ?? host.replace(/:\d*$/, '');
}
