import type { NetworkTarget } from '@exec-server/protocol';

/** Somebody wants to connect. The host is normalized. */
export interface AccessRequest extends NetworkTarget {
  /** HTTP method, where there is one. */
  readonly method?: string | undefined;
  /** The program's end of its connection to the proxy. */
  readonly client: string;
}

/** Why somebody may not connect. */
export interface Denial {
  readonly decision: 'deny' | 'ask';
  /** Who says so: the rules, the mode, the proxy itself, or whoever was asked. */
  readonly source: 'baseline_policy' | 'mode_guard' | 'proxy_state' | 'decider';
  readonly reason: string;
}

/** A decision, for the record. */
export interface PolicyDecision extends AccessRequest {
  /** Whether it was about the host. */
  readonly scope: 'domain' | 'non_domain';
  readonly decision: 'allow' | Denial['decision'];
  readonly source: Denial['source'];
  readonly reason: string;
  /** Whoever was asked allowed what the rules do not. */
  readonly policyOverride: boolean;
}

/** What an answer says in its `x-proxy-error`, and in words. */
export function explainDenial(reason: string): { readonly code: string; readonly message: string } {
  switch (reason) {
    case 'not_allowed':
      return { code: 'blocked-by-allowlist', message: 'Domain not in allowlist.' };
    case 'not_allowed_local':
      return {
        code: 'blocked-by-allowlist',
        message: 'Sandbox policy blocks local/private network addresses.',
      };
    case 'denied':
      return { code: 'blocked-by-denylist', message: 'Domain denied by the sandbox policy.' };
    case 'method_not_allowed':
      return { code: 'blocked-by-method-policy', message: 'Method not allowed in limited mode.' };
    case 'mitm_required':
      return { code: 'blocked-by-mitm-required', message: 'MITM required for limited HTTPS.' };
    default:
      return { code: 'blocked-by-policy', message: 'Request blocked by network policy.' };
  }
}
