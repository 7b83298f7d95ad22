import type { NetworkProxyConfig } from '@exec-server/protocol';
import type { ServerEnv } from '../http/header-env-vars.js';
import { readProxyRules } from '../http/proxy-rules.js';
import { TrustStore } from '../http/trust-store.js';
import { type LookupName, NameResolver } from './name-resolver.js';
import { NetworkProxy, type NetworkProxyOptions } from './network-proxy.js';
import { Upstream } from './upstream.js';

/** Makes the proxies of a server, which share the way out. */
export class NetworkProxies {
  readonly #env: ServerEnv;
  readonly #trust: TrustStore;
  readonly #resolver: NameResolver;
  readonly #straight: Upstream;
  #throughProxies: Upstream | undefined;

  /** @param lookupName how names are looked up; by default the system is asked */
  constructor(env: ServerEnv, lookupName?: LookupName) {
    this.#env = env;
    this.#trust = new TrustStore(env);
    this.#resolver = new NameResolver(lookupName);
    this.#straight = new Upstream(this.#trust);
  }

  /** A proxy that listens nowhere yet. Throws `ProxyConfigError`. */
  create(config: NetworkProxyConfig, options: Pick<NetworkProxyOptions, 'ask' | 'onDecision'>): NetworkProxy {
    const upstream = config.allowUpstreamProxy ? this.#openWayThroughProxies() : this.#straight;
    return new NetworkProxy({ config, upstream, resolver: this.#resolver, ...options });
  }

  /** The proxies of the environment are read for the first who may use them: most servers never have one. */
  #openWayThroughProxies(): Upstream {
    this.#throughProxies ??= new Upstream(this.#trust, readProxyRules(this.#env));
    return this.#throughProxies;
  }
}
