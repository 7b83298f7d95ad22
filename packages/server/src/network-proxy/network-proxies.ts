import type { NetworkProxyConfig } from '@exec-server/protocol';
import type { ServerEnv } from '../http/header-env-vars.js';
import { readProxyRules } from '../http/proxy-rules.js';
import { TrustStore } from '../http/trust-store.js';
import { type LookupName, NameResolver } from './name-resolver.js';
import { NetworkProxy, type NetworkProxyOptions } from './network-proxy.js';
import { Upstream } from './upstream.js';

/** Makes the proxies of a server, which share the way out. */
export class NetworkProxies {
  readonly #resolver: NameResolver;
  readonly #straight: Upstream;
  readonly #throughProxies: Upstream;

  /** @param lookupName how names are looked up; by default the system is asked */
  constructor(env: ServerEnv, lookupName?: LookupName) {
    const trust = new TrustStore(env);
    this.#resolver = new NameResolver(lookupName);
    this.#straight = new Upstream(trust);
    this.#throughProxies = new Upstream(trust, readProxyRules(env));
  }

  /** A proxy that listens nowhere yet. Throws `ProxyConfigError`. */
  create(config: NetworkProxyConfig, options: Pick<NetworkProxyOptions, 'ask' | 'onDecision'>): NetworkProxy {
    const upstream = config.allowUpstreamProxy ? this.#throughProxies : this.#straight;
    return new NetworkProxy({ config, upstream, resolver: this.#resolver, ...options });
  }
}
