import { BlockList, isIP } from 'node:net';
import type { ServerEnv } from './header-env-vars.js';
import { hostToDial } from './parse-url.js';

/** Which proxy a URL is fetched through. */
export interface ProxyRules {
  /** The proxy for `url`, or nothing when it is fetched directly. */
  proxyFor(url: URL): URL | undefined;
}

const DIRECT: ProxyRules = { proxyFor: () => undefined };

/** Reads the proxy variables. Where a name is set in both cases, upper case counts. */
export function readProxyRules(env: ServerEnv): ProxyRules {
  // A CGI program gets its client's `Proxy` header as HTTP_PROXY, so no such variable can be believed there.
  if (env.REQUEST_METHOD !== undefined) return DIRECT;
  const all = readProxy(env, 'ALL_PROXY');
  const proxies: Readonly<Record<string, URL | undefined>> = {
    'http:': readProxy(env, 'HTTP_PROXY') ?? all,
    'https:': readProxy(env, 'HTTPS_PROXY') ?? all,
  };
  const isExempt = parseExemptions(readVariable(env, 'NO_PROXY') ?? '');
  return { proxyFor: (url) => (isExempt(hostToDial(url)) ? undefined : proxies[url.protocol]) };
}

function readVariable(env: ServerEnv, name: string): string | undefined {
  return env[name] || env[name.toLowerCase()];
}

/** A value that is no URL counts as none. */
function readProxy(env: ServerEnv, name: string): URL | undefined {
  const value = readVariable(env, name);
  if (value === undefined) return undefined;
  const text = value.includes('://') ? value : `http://${value}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Reads `NO_PROXY`: addresses, networks (`10.0.0.0/8`), domains with all below them, or `*`. */
function parseExemptions(list: string): (host: string) => boolean {
  const addresses = new BlockList();
  const domains: string[] = [];
  for (const entry of list.split(',').map((item) => item.trim().toLowerCase())) {
    const [address = '', prefix] = entry.split('/');
    const family = familyOf(address);
    if (family === undefined) domains.push(entry.replace(/^\./, ''));
    else if (prefix === undefined) addresses.addAddress(address, family);
    else if (isPrefix(prefix, family)) addresses.addSubnet(address, Number(prefix), family);
  }
  const named = domains.filter((domain) => domain !== '');
  return (host) => {
    const family = familyOf(host);
    if (named.includes('*')) return true;
    if (family !== undefined) return addresses.check(host, family);
    return named.some((domain) => host === domain || host.endsWith(`.${domain}`));
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}

function isPrefix(text: string, family: 'ipv4' | 'ipv6'): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= (family === 'ipv4' ? 32 : 128);
}
