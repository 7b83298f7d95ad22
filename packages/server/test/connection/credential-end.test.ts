import { createSignedTokenPolicy } from '@exec-server/server';
import { openWire } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { notificationOf, openServer, shellParams } from '../support/session.js';
import { signToken } from '../support/sign-token.js';

const SECRET = Buffer.alloc(32, 's');
const START_SECONDS = 1_800_000_000;

/** A server that takes signed tokens, and one hand on both its clocks. */
async function listen(maxClockSkewSeconds: number) {
  const clock = new FakeClock();
  const now = () => START_SECONDS * 1000 + clock.now();
  const auth = createSignedTokenPolicy({ secret: SECRET, maxClockSkewSeconds, now });
  // Time passes faster here than pings are answered.
  const keepAlive = { pingIntervalMs: Number.MAX_SAFE_INTEGER };
  const { url } = await openServer({ clock }).listen('ws://127.0.0.1:0', { auth, keepAlive });
  const connect = async (goodForSeconds: number, sub = 'ada') => {
    const exp = Math.floor(now() / 1000) + goodForSeconds;
    const token = signToken(SECRET, { exp, sub });
    return openWire(url, { headers: { authorization: `Bearer ${token}` } });
  };
  return { clock, connect };
}

const initialize = (resumeSessionId?: string) => ({ clientName: 'test', resumeSessionId });

it('ends the connection when the token does, and a new token of the same principal has the session', async () => {
  const { clock, connect } = await listen(5);
  const first = await connect(600);
  const sessionId = (await first.request('initialize', initialize())).result?.sessionId as string;
  first.send({ method: 'initialized' });
  await first.request('process/start', shellParams('p', 'read x; echo "got $x"', { pipeStdin: true }));

  // Good through its last second, and as many more as clocks may disagree.
  for (let second = 0; second < 605; second++) clock.advance(1_000);
  clock.advance(999);
  expect((await first.request('environment/status')).result).toEqual({ status: 'ready' });
  clock.advance(1);
  expect(await first.closed).toMatchObject({
    code: 1008,
    reason: 'the token has expired; connect again with a new one',
  });

  const stranger = await connect(600, 'eve');
  expect((await stranger.request('initialize', initialize(sessionId))).error).toMatchObject({
    message: `unknown session id ${sessionId}`,
  });
  const second = await connect(600);
  expect((await second.request('initialize', initialize(sessionId))).result).toMatchObject({ sessionId });
  second.send({ method: 'initialized' });
  await second.request('process/write', { processId: 'p', chunk: btoa('it\n'), writeId: '1' });
  await second.next(notificationOf('p', 'process/closed'), 'the end');
});

it('leaves what comes with the end undone', async () => {
  const { clock, connect } = await listen(0);
  const wire = await connect(0);
  await wire.request('initialize', initialize());
  wire.send({ method: 'initialized' });
  // It does not read, so that its end takes its time.
  wire.pause();
  clock.advance(1_000);
  wire.send({ id: 50, method: 'process/start', params: shellParams('p', 'sleep 60') });
  wire.resume();
  expect(await wire.closed).toMatchObject({ code: 1008 });
  expect(wire.received.filter(({ id }) => id === 50)).toEqual([]);
});

it('has no end for a token that has none for centuries', async () => {
  const { clock, connect } = await listen(30);
  const wire = await connect(2 ** 50);
  await wire.request('initialize', initialize());
  wire.send({ method: 'initialized' });
  clock.advance(3_600_000);
  expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
});
