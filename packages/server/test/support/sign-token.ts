import { createHmac } from 'node:crypto';

/** A signed token with these claims, good for an hour. */
export function signToken(secret: Buffer, claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const head = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ exp, ...claims })}`;
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
}
