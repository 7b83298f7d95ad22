import { createSecretKey, type KeyObject } from 'node:crypto';
import { scanJson } from '@exec-server/protocol';
import type { AuthOutcome, AuthPolicy } from './auth.js';
import { SIGNED_TOKEN_PRINCIPAL } from './principal.js';

/** A word in the claim `scope`: whoever has the token sees the metrics of everybody. */
export const METRICS_SCOPE = 'exec-server:metrics';

/** @default of `maxClockSkewSeconds` */
const DEFAULT_CLOCK_SKEW_SECONDS = 30;

export interface SignedTokenOptions {
  readonly secret: Buffer;
  /** Required `iss`. Not looked at when absent. */
  readonly issuer?: string;
  /** Required member of `aud`. Not looked at when absent. */
  readonly audience?: string;
  /** How far clocks may disagree over `exp` and `nbf`. @default 30 */
  readonly maxClockSkewSeconds?: number;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

interface Claims {
  readonly exp: number;
  readonly nbf: number | undefined;
  readonly iss: string | undefined;
  readonly aud: readonly string[];
  /** Of any type: only a text names somebody, and whoever made the token is told. */
  readonly sub: unknown;
  /** Words that are separated by spaces. */
  readonly scope: string | undefined;
}

/** Accepts JWTs signed with HS256 and a shared secret. They must expire. */
export function createSignedTokenPolicy(options: SignedTokenOptions): AuthPolicy {
  const key = createSecretKey(options.secret);
  const now = options.now ?? Date.now;
  // Loaded only by servers that need it, and before the first client comes.
  const jose = import('jose');
  return {
    async authenticate(token) {
      const claims = await readClaims(token, key, await jose);
      if (claims === undefined) return refuse('invalid websocket jwt');
      return checkClaims(claims, options, now);
    },
  };
}

/** Three parts in base64url without padding: of the several spellings that a lenient decoder takes, the one of the RFC. */
const COMPACT_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The claims of a token that we signed, or nothing when it is not one or a claim has the wrong type. */
async function readClaims(token: string, key: KeyObject, { compactVerify }: typeof import('jose')) {
  if (!COMPACT_TOKEN.test(token)) return undefined;
  try {
    const { payload, protectedHeader } = await compactVerify(token, key, { algorithms: ['HS256'] });
    const { typ = null } = protectedHeader;
    if (typ !== null && typeof typ !== 'string') return undefined;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(payload);
    // Of a claim that stands there twice nobody could say which one was meant.
    scanJson(text);
    return parseClaims(JSON.parse(text));
  } catch {
    // Which of the many ways a token can be wrong is nothing the sender should learn.
    return undefined;
  }
}

function parseClaims(payload: unknown): Claims | undefined {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined;
  const { exp, nbf, iss, aud, sub, scope } = payload as Record<string, unknown>;
  const audiences = aud == null ? [] : Array.isArray(aud) ? aud : [aud];
  if (!isSeconds(exp) || !(nbf == null || isSeconds(nbf))) return undefined;
  if (!(iss == null || typeof iss === 'string') || !audiences.every((name) => typeof name === 'string')) {
    return undefined;
  }
  return {
    exp,
    nbf: nbf ?? undefined,
    iss: iss ?? undefined,
    aud: audiences,
    sub: sub ?? undefined,
    scope: typeof scope === 'string' ? scope : undefined,
  };
}

/** As far as signed 64-bit integers reach, which some use for never. */
const LAST_SECOND = 2 ** 63;

function isSeconds(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= LAST_SECOND;
}

function checkClaims(claims: Claims, options: SignedTokenOptions, now: () => number): AuthOutcome {
  const skew = options.maxClockSkewSeconds ?? DEFAULT_CLOCK_SKEW_SECONDS;
  const nowSeconds = Math.floor(now() / 1000);
  // Good through the whole of its last second.
  const endsAtMs = (claims.exp + skew + 1) * 1000;
  if (now() >= endsAtMs) return refuse('expired websocket jwt');
  if (claims.nbf !== undefined && nowSeconds < claims.nbf - skew) {
    return refuse('websocket jwt is not valid yet');
  }
  if (options.issuer !== undefined && claims.iss !== options.issuer) {
    return refuse('websocket jwt issuer mismatch');
  }
  if (options.audience !== undefined && !claims.aud.includes(options.audience)) {
    return refuse('websocket jwt audience mismatch');
  }
  const { sub } = claims;
  // All tokens without a subject are one principal: one with a subject that cannot be read is not among them.
  if (!(sub === undefined || (typeof sub === 'string' && sub !== ''))) {
    return refuse('websocket jwt sub must be a non-empty string');
  }
  return {
    accepted: true,
    principal: sub === undefined ? SIGNED_TOKEN_PRINCIPAL : { ...SIGNED_TOKEN_PRINCIPAL, subject: sub },
    leftMs: () => endsAtMs - now(),
    ...(hasMetricsScope(claims) && { seesAllMetrics: true }),
  };
}

function hasMetricsScope({ scope = '' }: Claims): boolean {
  return scope.split(' ').includes(METRICS_SCOPE);
}

function refuse(reason: string): AuthOutcome {
  return { accepted: false, reason };
}
