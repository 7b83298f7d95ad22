import { createHmac } from 'node:crypto';

/** The secret, issuer and audience that the recording's server was given. */
export const JWT_SECRET = 'a-shared-secret-of-at-least-32-bytes';
const ISSUER = 'iss1';
const AUDIENCE = 'aud1';
/** Life of a token that has not expired, in seconds. */
const LIFE_S = 600;

/** The token of a recorded case, fresh: validity is relative to now. */
export function makeJwt(name: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: ISSUER, aud: AUDIENCE, exp: now + LIFE_S };
  switch (name) {
    case 'valid':
      return sign(claims);
    case 'aud array':
      return sign({ ...claims, aud: ['other', AUDIENCE] });
    case 'wrong aud':
      return sign({ ...claims, aud: 'other' });
    case 'missing aud':
      return sign({ iss: ISSUER, exp: claims.exp });
    case 'wrong iss':
      return sign({ ...claims, iss: 'other' });
    case 'expired 20s ago':
      return sign({ ...claims, exp: now - 20 });
    case 'expired 40s ago':
      return sign({ ...claims, exp: now - 40 });
    case 'no exp':
      return sign({ iss: ISSUER, aud: AUDIENCE });
    case 'nbf in 20s':
      return sign({ ...claims, nbf: now + 20 });
    case 'nbf in 60s':
      return sign({ ...claims, nbf: now + 60 });
    case 'HS512':
      return sign(claims, 'HS512');
    case 'alg none':
      return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;
    case 'bad signature':
      return sign(claims, 'HS256', `${JWT_SECRET}, but another`);
    case 'garbage':
      return 'garbage';
    default:
      throw new Error(`no token is known for the case ${name}`);
  }
}

function sign(claims: object, alg: 'HS256' | 'HS512' = 'HS256', secret = JWT_SECRET): string {
  const body = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`;
  const hash = alg === 'HS256' ? 'sha256' : 'sha512';
  return `${body}.${createHmac(hash, secret).update(body).digest('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
