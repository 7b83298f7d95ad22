import { connect } from '@exec-server/client';
import { createExecServer, createSignedTokenPolicy } from '@exec-server/server';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../packages/server/test/support/fake-clock.js';
import { signToken } from '../../packages/server/test/support/sign-token.js';

const SECRET = Buffer.alloc(32, 's');
const START_MS = 1_800_000_000_000;
const GOOD_FOR_SECONDS = 600;

test('a client that gets a token for each connection does not notice that they expire', async () => {
  const clock = new FakeClock();
  const now = () => START_MS + clock.now();
  const server = createExecServer({ clock });
  onTestFinished(() => server.close());
  const auth = createSignedTokenPolicy({ secret: SECRET, now });
  // Time passes faster here than pings are answered.
  const keepAlive = { pingIntervalMs: Number.MAX_SAFE_INTEGER };
  const { url } = await server.listen('ws://127.0.0.1:0', { auth, keepAlive });
  const tokens: string[] = [];
  const machine = await connect(url, {
    token: () => {
      const exp = Math.floor(now() / 1000) + GOOD_FOR_SECONDS;
      tokens.push(signToken(SECRET, { sub: 'ada', exp }));
      return tokens.at(-1) as string;
    },
  });
  onTestFinished(() => machine.close());
  const cat = await machine.spawn(['cat'], { stdin: 'pipe' });
  for (const word of ['one', 'two', 'three']) {
    const lost = new Promise<{ message: string }>((resolve) => machine.client.onLoss(resolve));
    for (let second = 0; second <= GOOD_FOR_SECONDS + 30; second++) clock.advance(1_000);
    expect((await lost).message).toContain('the token has expired');
    await cat.stdin.write(`${word}\n`);
  }
  await cat.stdin.end();
  expect((await cat.result()).stdout.text()).toBe('one\ntwo\nthree\n');
  expect(new Set(tokens).size).toBe(4);
});
