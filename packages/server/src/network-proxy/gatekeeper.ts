import type { ClientDecider } from './ask-client.js';
import type { AccessRequest, Denial, PolicyDecision } from './decision.js';
import type { NameResolver } from './name-resolver.js';
import type { HostRules } from './rules/host-rules.js';

/** Methods that only read, which are all that a limited proxy passes on. */
const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const HTTPS_PORT = 443;

/** Where a request may go: to these addresses and no others, because only they have been looked at. */
export type Access =
  | { readonly allowed: true; readonly addresses: readonly string[] }
  | { readonly allowed: false; readonly denial: Denial };

export interface GatekeeperOptions {
  readonly rules: HostRules;
  readonly mode: 'limited' | 'full';
  readonly resolver: NameResolver;
  /** Who decides what the rules leave open. @default nobody, it is denied */
  readonly decider?: ClientDecider | undefined;
  /** Whether the request goes through another proxy, which looks the name up itself if this machine cannot. */
  readonly goesUpstream: (request: AccessRequest) => boolean;
  /** Whether an address and a port are this server's own: a program must not come back by them as somebody unconfined. */
  readonly isOwn: (address: string, port: number) => boolean;
  /** Takes every decision, in the order in which they are made. */
  readonly onDecision: (decision: PolicyDecision) => void;
}

/** Decides who may connect where, and puts it on record. */
export class Gatekeeper {
  constructor(private readonly options: GatekeeperOptions) {}

  /** Decides about a request as a whole. */
  async admit(request: AccessRequest): Promise<Access> {
    const early = this.#guardBlindly(request);
    if (early !== undefined) return this.#deny(request, 'non_domain', early);
    const access = await this.#admitHost(request);
    if (!access.allowed) return access;
    const guarded = this.#guardMode(request);
    return guarded === undefined ? access : this.#deny(request, 'non_domain', guarded);
  }

  /** Puts on record what the proxy refuses for a reason of its own. */
  refuse(request: AccessRequest, reason: string): void {
    this.#deny(request, 'non_domain', { decision: 'deny', source: 'proxy_state', reason });
  }

  async #admitHost(request: AccessRequest): Promise<Access> {
    const { rules, decider } = this.options;
    const verdict = rules.judge(request.host);
    const asked = verdict === 'not_allowed' && decider !== undefined;
    if (verdict !== 'allowed' && !asked) return this.#deny(request, 'domain', baseline(verdict));
    const denial = asked ? await decider.decide(request) : undefined;
    if (denial !== undefined) return this.#deny(request, 'domain', denial);

    const addresses = await this.options.resolver.resolve(request.host);
    const found = this.#judgeAddresses(request, addresses);
    if (found !== 'allowed') return this.#deny(request, 'domain', baseline(found));
    this.options.onDecision({
      ...request,
      scope: 'domain',
      decision: 'allow',
      source: asked ? 'decider' : 'baseline_policy',
      reason: asked ? 'not_allowed' : 'allow',
      policyOverride: asked,
    });
    return { allowed: true, addresses };
  }

  #judgeAddresses(request: AccessRequest, addresses: readonly string[]) {
    const { rules, isOwn, goesUpstream } = this.options;
    if (addresses.some((address) => isOwn(address, request.port))) return 'not_allowed_local';
    if (addresses.length === 0) return goesUpstream(request) ? 'allowed' : 'not_allowed_local';
    return rules.judgeAddresses(request.host, addresses);
  }

  /** What a limited proxy refuses whatever the host: it cannot see what is done on such a connection. */
  #guardBlindly({ protocol, port }: AccessRequest): Denial | undefined {
    const isHidden = protocol === 'socks5_udp' || (protocol === 'socks5_tcp' && port !== HTTPS_PORT);
    return this.options.mode === 'limited' && isHidden ? guard('method_not_allowed') : undefined;
  }

  #guardMode({ protocol, method = '' }: AccessRequest): Denial | undefined {
    if (this.options.mode === 'full') return undefined;
    if (protocol !== 'http') return guard('mitm_required');
    return READING_METHODS.has(method) ? undefined : guard('method_not_allowed');
  }

  #deny(request: AccessRequest, scope: PolicyDecision['scope'], denial: Denial): Access {
    this.options.onDecision({ ...request, scope, ...denial, policyOverride: false });
    return { allowed: false, denial };
  }
}

function baseline(reason: string): Denial {
  return { decision: 'deny', source: 'baseline_policy', reason };
}

function guard(reason: string): Denial {
  return { decision: 'deny', source: 'mode_guard', reason };
}
