import { once, setMaxListeners } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { NetworkProxyConfig } from '@exec-server/protocol';
import { claimPort } from '../listen/own-ports.js';
import { ClientDecider, type SendQuestion } from './ask-client.js';
import type { PolicyDecision } from './decision.js';
import { Gatekeeper } from './gatekeeper.js';
import { createHttpProxy } from './http/http-proxy.js';
import type { NameResolver } from './name-resolver.js';
import { isOwnEndpoint } from './own-address.js';
import { ProxyConfigError } from './proxy-config-error.js';
import type { ProxyPorts } from './proxy-variables.js';
import { HostRules } from './rules/host-rules.js';
import { createSocksProxy } from './socks/socks-proxy.js';
import { UdpRelay } from './socks/udp-relay.js';
import type { Upstream } from './upstream.js';

const LOOPBACK = '127.0.0.1';

/** Sockets that somebody else has bound for a proxy, where it could not do so itself. They are the proxy's from here on. */
export interface BoundSockets {
  readonly http: number;
  readonly socks?: number | undefined;
  readonly udp?: number | undefined;
}

export interface NetworkProxyOptions {
  readonly config: NetworkProxyConfig;
  readonly upstream: Upstream;
  readonly resolver: NameResolver;
  /** Who is asked about what the rules leave open, and for how long. @default nobody, it is denied */
  readonly ask?: { readonly send: SendQuestion; readonly timeoutMs: number } | undefined;
  /** Takes every decision. */
  readonly onDecision: (decision: PolicyDecision) => void;
}

/** The way to the network of one process: HTTP, tunnels and SOCKS5, as far as its rules allow. */
export class NetworkProxy {
  readonly #http: Server;
  readonly #socks: Server | undefined;
  readonly #udp: UdpRelay | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #ended = new AbortController();
  #claims: readonly (() => void)[] = [];

  /** Throws {@link ProxyConfigError}. */
  constructor({ config, upstream, resolver, ask, onDecision }: NetworkProxyOptions) {
    const { signal } = this.#ended;
    // Every connection that is being made listens for the end; how many may is bounded elsewhere.
    setMaxListeners(0, signal);
    const gatekeeper = new Gatekeeper({
      rules: readRules(config),
      mode: config.mode,
      resolver,
      decider: ask && new ClientDecider({ ...ask, signal }),
      goesUpstream: (request) => upstream.proxyFor(request) !== undefined,
      isOwn: isOwnEndpoint,
      onDecision,
    });
    const parts = { gatekeeper, upstream, signal };
    this.#http = this.#track(createHttpProxy(parts));
    if (!config.enableSocks5) return;
    this.#udp = config.enableSocks5Udp ? new UdpRelay(gatekeeper) : undefined;
    this.#socks = this.#track(createSocksProxy({ ...parts, udp: this.#udp }));
  }

  get offersSocks(): boolean {
    return this.#socks !== undefined;
  }

  get offersUdp(): boolean {
    return this.#udp !== undefined;
  }

  /** Takes connections from this machine, at free ports. Rejects with what the system said. */
  async listenOnLoopback(): Promise<ProxyPorts> {
    const at = { host: LOOPBACK, port: 0 };
    await Promise.all([
      listen(this.#http, at),
      this.#socks && listen(this.#socks, at),
      this.#udp?.bind({ address: LOOPBACK }),
    ]);
    const ports = { http: portOf(this.#http), socks: this.#socks && portOf(this.#socks) };
    this.#claims = Object.values(ports).flatMap((port) =>
      port === undefined ? [] : claimPort(port, 'proxy'),
    );
    if (this.#ended.signal.aborted) this.#releasePorts();
    return ports;
  }

  /** Takes connections at sockets that are bound already. Rejects with what the system said. */
  async listenAt({ http, socks, udp }: BoundSockets): Promise<void> {
    await Promise.all([
      listen(this.#http, { fd: http }),
      socks === undefined ? undefined : this.#socks && listen(this.#socks, { fd: socks }),
      udp === undefined ? undefined : this.#udp?.bind({ fd: udp }),
    ]);
  }

  /** Ends every connection and question. Idempotent. */
  close(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort(new Error('the proxy has ended'));
    for (const server of [this.#http, this.#socks]) server?.close();
    this.#udp?.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#releasePorts();
  }

  #releasePorts(): void {
    for (const release of this.#claims) release();
    this.#claims = [];
  }

  #track(server: Server): Server {
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    return server;
  }
}

function readRules(config: NetworkProxyConfig): HostRules {
  if (!config.enabled)
    throw new ProxyConfigError('executor-local network proxy launch requires an enabled proxy');
  if (config.credentialMasking === true)
    throw new ProxyConfigError('credential masking is not available on this executor');
  const sockets = Object.entries(config.unixSockets ?? {}).filter(([, access]) => access === 'allow');
  for (const [index, [path]] of sockets.entries()) {
    if (path.startsWith('/') && !path.includes('\0')) continue;
    const problem = `expected a NUL-free absolute path for Linux, got ${JSON.stringify(path)}`;
    throw new ProxyConfigError(`invalid network.allow_unix_sockets[${index}]: ${problem}`);
  }
  return new HostRules({
    domains: config.domains ?? {},
    reviewDomains: config.reviewDomains ?? [],
    allowLocalBinding: config.allowLocalBinding,
  });
}

async function listen(
  server: Server,
  at: { readonly host: string; readonly port: number } | { readonly fd: number },
): Promise<void> {
  server.listen(at);
  await once(server, 'listening');
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
