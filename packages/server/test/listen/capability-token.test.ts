import { expect, it } from 'vitest';
import { createCapabilityTokenPolicy, sha256 } from '../../src/listen/capability-token.js';

const policy = createCapabilityTokenPolicy(sha256('s3cret'));

it('accepts its token for its one principal', async () => {
  expect(await policy.authenticate('s3cret')).toEqual({
    accepted: true,
    principal: { kind: 'capability-token' },
    seesAllMetrics: true,
  });
});

it.each(['', 's3cre', 's3cret ', 'S3CRET', 's3crets', 'nope'])('refuses %j', async (token) => {
  expect(await policy.authenticate(token)).toEqual({
    accepted: false,
    reason: 'invalid websocket bearer token',
  });
});
