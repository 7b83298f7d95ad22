import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { dial, openTunnel } from '../http/dial.js';
import type { ProxyRules } from '../http/proxy-rules.js';
import type { TrustStore } from '../http/trust-store.js';
import type { AccessRequest } from './decision.js';

/** How long a connection may take to be made, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;

/** The way out: straight to addresses that have been looked at, or through the server's own proxy where that is allowed. */
export class Upstream {
  constructor(
    private readonly trust: TrustStore,
    /** Absent when everything goes straight. */
    private readonly proxies?: ProxyRules | undefined,
  ) {}

  /** The server's own proxy for a request, if it is to be used. */
  proxyFor({ protocol, host, port }: AccessRequest): URL | undefined {
    if (protocol === 'socks5_udp') return undefined;
    const scheme = protocol === 'http' ? 'http' : 'https';
    return this.proxies?.proxyFor(new URL(`${scheme}://${spellHost(host)}:${port}/`));
  }

  /** A connection to the host itself, whatever is between. Rejects with whatever the system said. */
  async connect(request: AccessRequest, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
    const proxy = this.proxyFor(request);
    if (proxy === undefined) return connectTo(addresses, request.port, signal);
    const target = new URL(`https://${spellHost(request.host)}:${request.port}/`);
    return openTunnel(await this.connectToProxy(proxy, signal), target, proxy);
  }

  /** A connection to the server's own proxy. */
  connectToProxy(proxy: URL, signal: AbortSignal): Promise<Socket> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]);
    return dial(proxy, { trust: this.trust, signal: patience });
  }
}

/** A host as URLs have it: an IPv6 address in brackets. */
export function spellHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Tries addresses until one takes the connection, and no name is looked up again. */
export async function connectTo(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first = { address: '', family: 4 }] = found;
  const socket = connect({
    // Only names are looked up, and this one is known already.
    host: 'checked.invalid',
    port,
    noDelay: true,
    keepAlive: true,
    allowHalfOpen: true,
    autoSelectFamily: true,
    lookup: (_name, options, answer) =>
      options.all === true ? answer(null, found) : answer(null, first.address, first.family),
  });
  // Whoever waits is told of a failure; one that comes after that has nobody left to tell.
  socket.on('error', () => {});
  const end = () => socket.destroy(new Error('the connection was not made in time'));
  const timer = setTimeout(end, CONNECT_TIMEOUT_MS);
  addAbortListener(signal, end);
  try {
    await once(socket, 'connect');
    return socket;
  } finally {
    clearTimeout(timer);
    removeAbortListener(signal, end);
  }
}
