import { expect, it } from 'vitest';
import { type AuthPolicy, authenticateUpgrade } from '../../src/listen/auth.js';

const seen: AuthPolicy = {
  authenticate: async (token) => ({ accepted: true, principal: { kind: 'custom', subject: token } }),
};
const subprotocol = (token: string) => `exec-server.bearer.${Buffer.from(token).toString('base64url')}`;

it('lets everybody in without a policy, whatever they send', async () => {
  expect(await authenticateUpgrade(undefined, { authorization: 'Basic x' })).toEqual({
    accepted: true,
    principal: { kind: 'anonymous' },
    seesAllMetrics: true,
  });
});

it.each(['Bearer tok', 'bearer tok', 'BEARER tok', 'Bearer   tok  '])(
  'reads the token of %j',
  async (header) => {
    expect(await authenticateUpgrade(seen, { authorization: header })).toMatchObject({
      principal: { subject: 'tok' },
    });
  },
);

it.each(['', 'Bearer', 'Bearer ', 'Bearer\ttok', 'Basic tok', 'tok', 'Bearer \xe9'])(
  'refuses the header %j',
  async (header) => {
    expect(await authenticateUpgrade(seen, { authorization: header })).toEqual({
      accepted: false,
      reason: 'invalid authorization header',
    });
  },
);

it('misses a token', async () => {
  for (const headers of [{}, { 'sec-websocket-protocol': 'exec-server, chat' }]) {
    expect(await authenticateUpgrade(seen, headers)).toEqual({
      accepted: false,
      reason: 'missing websocket bearer token',
    });
  }
});

it('takes the token of a browser from its subprotocols', async () => {
  const headers = { 'sec-websocket-protocol': `exec-server, ${subprotocol('t/o+k ä')}` };
  expect(await authenticateUpgrade(seen, headers)).toMatchObject({ principal: { subject: 't/o+k ä' } });
});

it('prefers the header over the subprotocol', async () => {
  const headers = { authorization: 'Bearer header', 'sec-websocket-protocol': subprotocol('browser') };
  expect(await authenticateUpgrade(seen, headers)).toMatchObject({ principal: { subject: 'header' } });
});

it('refuses a subprotocol without a token', async () => {
  const headers = { 'sec-websocket-protocol': 'exec-server.bearer.' };
  expect(await authenticateUpgrade(seen, headers)).toEqual({
    accepted: false,
    reason: 'invalid websocket bearer subprotocol',
  });
});
