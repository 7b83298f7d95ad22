import type { IncomingHttpHeaders } from 'node:http';
import { BEARER_SUBPROTOCOL_PREFIX } from '@exec-server/protocol';
import { ANONYMOUS_PRINCIPAL, checkPrincipal, type Principal } from './principal.js';

/** A credential that is good. */
export interface AcceptedCredential {
  readonly accepted: true;
  readonly principal: Principal;
  /** Whether `/metrics` tells about everybody, and not about the principal alone. @default false */
  readonly seesAllMetrics?: boolean;
  /**
   * How long the credential is still good, in milliseconds; not positive once it is over, which ends the connections that
   * it opened. Asked again and again. @default for ever
   */
  readonly leftMs?: () => number;
}

/** What a credential turned out to be. */
export type AuthOutcome =
  | AcceptedCredential
  /** `reason` is the body of the 401. It never repeats the credential. */
  | { readonly accepted: false; readonly reason: string };

/** Decides over bearer tokens. Made once when the server starts. */
export interface AuthPolicy {
  authenticate(token: string): Promise<AuthOutcome>;
}

/** Authenticates the upgrade request with these headers. Without a policy everybody is welcome. */
export async function authenticateUpgrade(
  policy: AuthPolicy | undefined,
  headers: IncomingHttpHeaders,
): Promise<AuthOutcome> {
  if (policy === undefined) return { accepted: true, principal: ANONYMOUS_PRINCIPAL, seesAllMetrics: true };
  const found = findBearerToken(headers);
  if (!('token' in found)) return { accepted: false, reason: found.reason };
  const outcome = await policy.authenticate(found.token);
  if (outcome.accepted) checkPrincipal(outcome.principal);
  return outcome;
}

/** Looks at the `Authorization` header, then at the offered subprotocols; never at the query string. */
function findBearerToken(headers: IncomingHttpHeaders): { token: string } | { reason: string } {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const token = /^bearer ([\x20-\x7e]*)$/i.exec(authorization)?.[1]?.trim() ?? '';
    return token === '' ? { reason: 'invalid authorization header' } : { token };
  }
  const offered = offeredSubprotocols(headers).find((name) => name.startsWith(BEARER_SUBPROTOCOL_PREFIX));
  if (offered === undefined) return { reason: 'missing websocket bearer token' };
  const encoded = offered.slice(BEARER_SUBPROTOCOL_PREFIX.length);
  const token = Buffer.from(encoded, 'base64url').toString('utf8').trim();
  return token === '' ? { reason: 'invalid websocket bearer subprotocol' } : { token };
}

function offeredSubprotocols(headers: IncomingHttpHeaders): string[] {
  return headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
}
