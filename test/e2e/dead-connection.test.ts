import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type KeepAliveOptions } from '@exec-server/client';
import { createExecServer } from '@exec-server/server';
import { FaultProxy } from '@exec-server/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../packages/client/test/support/manual-clock.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../packages/server/test/listen/tls-fixture.js';

const INTERVAL_MS = 4_000;
const RECONNECT = { minDelayMs: 1, maxDelayMs: 20, deadlineMs: 25_000 };

async function listen(address: string): Promise<FaultProxy> {
  const server = createExecServer();
  onTestFinished(() => server.close());
  const { url } = await server.listen(address);
  const proxy = await FaultProxy.start(url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

async function makeSocketAddress(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'dead-connection-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return `unix://${join(directory, 'socket')}`;
}

async function connectThrough(proxy: FaultProxy, keepAlive?: KeepAliveOptions) {
  const clock = new ManualClock();
  const machine = await connect(proxy.url, { reconnect: RECONNECT, clock, ...(keepAlive && { keepAlive }) });
  onTestFinished(() => machine.close());
  return { machine, clock };
}

/** Has 20 seconds pass, and what is sent meanwhile leave. */
async function passTwentySeconds(clock: ManualClock): Promise<void> {
  for (let ms = 0; ms < 20_000; ms += INTERVAL_MS) {
    clock.advance(INTERVAL_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a connection that dies without a word', () => {
  test('costs no more than 20 seconds: what ran is followed to its end on the next one', async () => {
    const proxy = await listen('ws://127.0.0.1:0');
    const { machine, clock } = await connectThrough(proxy);
    const process = await machine.spawn(['sh', '-c', 'echo ready; read line; echo "got $line"'], {
      stdin: 'pipe',
    });
    await process.waitFor({ text: 'ready' });
    proxy.swallowAll();
    const written = process.stdin.write('word\n');
    await passTwentySeconds(clock);
    await proxy.until((line) => line === 'connection 2');
    await written;
    const { exitCode, stdout } = await process.result();
    expect([exitCode, stdout.text()]).toEqual([0, 'ready\ngot word\n']);
  });

  test('over a Unix socket is found with a request, and its session with another one', async () => {
    const proxy = await listen(await makeSocketAddress());
    const { machine, clock } = await connectThrough(proxy);
    const process = await machine.spawn(['cat'], { stdin: 'pipe' });
    const losses: string[] = [];
    machine.client.onLoss(({ message }) => losses.push(message));
    proxy.swallowAll();
    await passTwentySeconds(clock);
    await process.stdin.write('word\n');
    await process.stdin.end();
    expect((await process.result()).stdout.text()).toBe('word\n');
    expect(losses).toEqual([
      'exec-server transport disconnected: no byte came from the server for 12 seconds, although it was asked for a sign of life',
    ]);
  });
});

test.each(['ws://127.0.0.1:0', 'wss://127.0.0.1:0', 'unix'])(
  'a connection at %s that is merely idle is kept',
  async (address) => {
    const server = createExecServer();
    onTestFinished(() => server.close());
    const tls = address.startsWith('wss') && { tls: { cert: TEST_CERTIFICATE, key: TEST_KEY } };
    const { url } = await server.listen(address === 'unix' ? await makeSocketAddress() : address, { ...tls });
    const clock = new ManualClock();
    const machine = await connect(url, { clock, ...(tls && { tls: { ca: TEST_CERTIFICATE } }) });
    onTestFinished(() => machine.close());
    const losses: string[] = [];
    machine.client.onLoss(({ message }) => losses.push(message));
    for (let round = 0; round < 5; round++) {
      // The first look finds the answer of the round before, the second nothing.
      clock.advance(INTERVAL_MS);
      clock.advance(INTERVAL_MS);
      // Whatever was asked before this is answered before it.
      await machine.client.environmentStatus();
    }
    expect(losses).toEqual([]);
  },
);
