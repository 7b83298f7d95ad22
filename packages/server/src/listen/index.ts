export type { AuthOutcome, AuthPolicy } from './auth.js';
export { createCapabilityTokenPolicy } from './capability-token.js';
export type { HttpLimits } from './http-limits.js';
export type { KeepAliveLimits } from './keep-alive.js';
export { ListenError, type ListenErrorCode } from './listen-error.js';
export type { ListenOptions } from './listen-options.js';
export { type ListenTarget, parseListenUrl } from './listen-url.js';
export type { AcceptConnection, ConnectionInfo, Listener } from './listener.js';
export { type AuthSettings, loadAuthPolicy } from './load-auth-policy.js';
export { openListener } from './open-listener.js';
export {
  ANONYMOUS_PRINCIPAL,
  CAPABILITY_TOKEN_PRINCIPAL,
  isSamePrincipal,
  type Principal,
  SIGNED_TOKEN_PRINCIPAL,
} from './principal.js';
export { createSignedTokenPolicy, METRICS_SCOPE, type SignedTokenOptions } from './signed-token.js';
