import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSignedTokenPolicy, type SignedTokenOptions } from '../../src/listen/signed-token.js';

const secret = Buffer.alloc(40, 'x');
const NOW_SECONDS = 1_800_000_000;
const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

function sign(claims: unknown, header: object = { alg: 'HS256', typ: 'JWT' }, key = secret, hash = 'sha256') {
  const signed = `${base64url(header)}.${base64url(claims)}`;
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`;
}

const good = { iss: 'iss1', aud: 'aud1', exp: NOW_SECONDS + 100 };

const authenticate = (token: string, options: Partial<SignedTokenOptions> = {}) =>
  createSignedTokenPolicy({
    secret,
    issuer: 'iss1',
    audience: 'aud1',
    now: () => NOW_SECONDS * 1000 + 999,
    ...options,
  }).authenticate(token);

const refusal = (reason: string) => ({ accepted: false, reason });

it('names the subject, or one shared principal without one', async () => {
  expect(await authenticate(sign({ ...good, sub: 'ada' }))).toEqual({
    accepted: true,
    principal: { kind: 'signed-token', subject: 'ada' },
    leftMs: expect.any(Function),
  });
  for (const sub of [undefined, null]) {
    expect(await authenticate(sign({ ...good, sub }))).toEqual({
      accepted: true,
      principal: { kind: 'signed-token' },
      leftMs: expect.any(Function),
    });
  }
});

it.each([
  { exp: NOW_SECONDS, maxClockSkewSeconds: 0, leftMs: 1 },
  { exp: NOW_SECONDS + 100, maxClockSkewSeconds: 0, leftMs: 100_001 },
  { exp: NOW_SECONDS + 100, maxClockSkewSeconds: 5, leftMs: 105_001 },
  { exp: NOW_SECONDS + 100, maxClockSkewSeconds: undefined, leftMs: 130_001 },
  { exp: NOW_SECONDS - 30, maxClockSkewSeconds: undefined, leftMs: 1 },
])(
  'with exp $exp and a skew of $maxClockSkewSeconds seconds is good for $leftMs ms, as for a new connection',
  async ({ exp, maxClockSkewSeconds, leftMs }) => {
    let now = NOW_SECONDS * 1000 + 999;
    const options = { now: () => now, ...(maxClockSkewSeconds !== undefined && { maxClockSkewSeconds }) };
    const token = sign({ ...good, exp });
    const outcome = await authenticate(token, options);
    expect('leftMs' in outcome && outcome.leftMs?.()).toBe(leftMs);
    now += leftMs - 1;
    expect(await authenticate(token, options)).toMatchObject({ accepted: true });
    now += 1;
    expect(await authenticate(token, options)).toEqual(refusal('expired websocket jwt'));
    expect('leftMs' in outcome && outcome.leftMs?.()).toBe(0);
  },
);

it.each([
  ['exec-server:metrics', true],
  ['openid exec-server:metrics', true],
  ['exec-server:metricsx', undefined],
  ['EXEC-SERVER:METRICS', undefined],
  ['', undefined],
  [undefined, undefined],
  [['exec-server:metrics'], undefined],
  [true, undefined],
])('with the scope %j sees the metrics of everybody: %s', async (scope, seesAllMetrics) => {
  expect(await authenticate(sign({ ...good, scope }))).toEqual({
    accepted: true,
    principal: { kind: 'signed-token' },
    leftMs: expect.any(Function),
    ...(seesAllMetrics && { seesAllMetrics }),
  });
});

it.each([
  ['no typ', sign(good, { alg: 'HS256' })],
  ['another typ', sign(good, { alg: 'HS256', typ: 'at+jwt' })],
  ['several audiences', sign({ ...good, aud: ['other', 'aud1'] })],
  ['a null nbf', sign({ ...good, nbf: null })],
  [
    'an end that is never',
    sign(JSON.stringify({ ...good, exp: 0 }).replace('"exp":0', '"exp":9223372036854775807')),
  ],
  ['claims that are not looked at', sign({ ...good, iat: 'x', jti: 5 })],
])('accepts %s', async (_, token) => {
  expect(await authenticate(token)).toMatchObject({ accepted: true });
});

it.each([
  ['a claim that stands there twice', sign(JSON.stringify(good).replace('{', '{"exp":1,'))],
  ['a typ that is no text', sign(good, { alg: 'HS256', typ: 5 })],
  ['garbage', 'garbage'],
  ['an empty token', ''],
  ['padding', `${sign(good)}=`],
  ['white space', ` ${sign(good)}`],
  ['another key', sign(good, { alg: 'HS256' }, Buffer.alloc(40, 'y'))],
  ['a changed payload', sign(good).replace(/\..*\./, `.${base64url({ ...good, sub: 'root' })}.`)],
  ['HS512', sign(good, { alg: 'HS512' }, secret, 'sha512')],
  ['no algorithm', `${base64url({ alg: 'none' })}.${base64url(good)}.`],
  ['an unknown critical header', sign(good, { alg: 'HS256', crit: ['x'], x: 1 })],
  ['no exp', sign({ ...good, exp: undefined })],
  ['a null exp', sign({ ...good, exp: null })],
  ['a fractional exp', sign({ ...good, exp: NOW_SECONDS + 0.5 })],
  ['a text as exp', sign({ ...good, exp: `${NOW_SECONDS + 100}` })],
  ['an exp beyond all time', sign('{"iss":"iss1","aud":"aud1","exp":99999999999999999999}')],
  ['a text as nbf', sign({ ...good, nbf: 'x' })],
  ['a list as iss', sign({ ...good, iss: ['iss1'] })],
  ['a number as aud', sign({ ...good, aud: 5 })],
  ['a number among the audiences', sign({ ...good, aud: ['aud1', 5] })],
  ['claims that are a list', sign([1])],
  ['claims that are no JSON', sign('x')],
])('refuses %s', async (_, token) => {
  expect(await authenticate(token)).toEqual(refusal('invalid websocket jwt'));
});

it.each([5, 0, true, false, {}, ['ada'], ''])('refuses the sub %j', async (sub) => {
  expect(await authenticate(sign({ ...good, sub }))).toEqual(
    refusal('websocket jwt sub must be a non-empty string'),
  );
});

describe('clock skew', () => {
  it.each([
    [29, true],
    [30, true],
    [31, false],
  ])('of 30 seconds by default: expired %d seconds ago', async (ago, accepted) => {
    const outcome = await authenticate(sign({ ...good, exp: NOW_SECONDS - ago }));
    if (accepted) expect(outcome).toMatchObject({ accepted });
    else expect(outcome).toEqual(refusal('expired websocket jwt'));
  });

  it.each([
    [29, true],
    [30, true],
    [31, false],
  ])('of 30 seconds by default: valid in %d seconds', async (ahead, accepted) => {
    const outcome = await authenticate(sign({ ...good, nbf: NOW_SECONDS + ahead }));
    if (accepted) expect(outcome).toMatchObject({ accepted });
    else expect(outcome).toEqual(refusal('websocket jwt is not valid yet'));
  });

  it('can be set', async () => {
    const token = sign({ ...good, exp: NOW_SECONDS - 1 });
    expect(await authenticate(token, { maxClockSkewSeconds: 0 })).toEqual(refusal('expired websocket jwt'));
    expect(await authenticate(token, { maxClockSkewSeconds: 1 })).toMatchObject({ accepted: true });
  });
});

it.each([
  [
    'exp first',
    { iss: 'x', aud: 'y', exp: NOW_SECONDS - 100, nbf: NOW_SECONDS + 100 },
    'expired websocket jwt',
  ],
  [
    'then nbf',
    { iss: 'x', aud: 'y', exp: good.exp, nbf: NOW_SECONDS + 100 },
    'websocket jwt is not valid yet',
  ],
  ['then iss', { iss: 'x', aud: 'y', exp: good.exp }, 'websocket jwt issuer mismatch'],
  ['a missing iss', { aud: 'aud1', exp: good.exp }, 'websocket jwt issuer mismatch'],
  ['then aud', { iss: 'iss1', aud: 'y', exp: good.exp }, 'websocket jwt audience mismatch'],
  ['no audience', { iss: 'iss1', aud: [], exp: good.exp }, 'websocket jwt audience mismatch'],
  ['a missing audience', { iss: 'iss1', exp: good.exp }, 'websocket jwt audience mismatch'],
])('looks at %s', async (_, claims, reason) => {
  expect(await authenticate(sign(claims))).toEqual(refusal(reason));
});

it('does not look at issuer and audience unless told to', async () => {
  const policy = createSignedTokenPolicy({ secret, now: () => NOW_SECONDS * 1000 });
  expect(await policy.authenticate(sign({ iss: 'x', exp: good.exp }))).toMatchObject({ accepted: true });
});
