import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthPolicy } from './auth.js';
import { CAPABILITY_TOKEN_PRINCIPAL } from './principal.js';

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** Accepts one token, known by its SHA-256 digest, so that the token itself need not stay in memory. */
export function createCapabilityTokenPolicy(digest: Buffer): AuthPolicy {
  return {
    authenticate: async (token) =>
      timingSafeEqual(sha256(token), digest)
        ? // There is one token, so that nobody holds it but whoever the server is for.
          { accepted: true, principal: CAPABILITY_TOKEN_PRINCIPAL, seesAllMetrics: true }
        : { accepted: false, reason: 'invalid websocket bearer token' },
  };
}
