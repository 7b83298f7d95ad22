import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createWebSocketTransport } from '@exec-server/rpc/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../src/clock.js';
import { type AskedConnection, SignOfLife } from '../../src/connection/sign-of-life.js';
import { FakeClock } from '../support/fake-clock.js';

const WITHIN_MS = 1_000;
const never = new Promise<never>(() => {});

/** A connection that gives signs when a test says so. */
function asked(closed: Promise<unknown> = never) {
  const connection = { activity: 0, questions: 0 };
  const seen: AskedConnection = {
    measureActivity: () => connection.activity,
    ask: () => {
      connection.questions++;
    },
    closed,
  };
  const clock = new FakeClock();
  return { connection, clock, sign: new SignOfLife(seen, clock, WITHIN_MS) };
}

/** What has come of a question so far. */
async function stateOf(answer: Promise<boolean>): Promise<boolean | 'open'> {
  const later = new Promise<'open'>((resolve) => setImmediate(() => resolve('open')));
  return Promise.race([answer, later]);
}

describe('a connection that is asked', () => {
  test.each([
    { ms: 999, state: 'open' },
    { ms: 1_000, state: false },
    { ms: 1_001, state: false },
  ])('and silent for $ms of 1,000 ms: $state', async ({ ms, state }) => {
    const { clock, sign } = asked();
    const answer = sign.get();
    clock.advance(ms);
    expect(await stateOf(answer)).toBe(state);
  });

  test('lives with the first byte', async () => {
    const { connection, clock, sign } = asked();
    const answer = sign.get();
    clock.advance(500);
    connection.activity++;
    clock.advance(WITHIN_MS / 8);
    expect(await answer).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  test('is asked once by all who want to know, and anew by the next', async () => {
    const { connection, clock, sign } = asked();
    const answers = [sign.get(), sign.get(), sign.get()];
    expect(connection.questions).toBe(1);
    clock.advance(WITHIN_MS);
    expect(await Promise.all(answers)).toEqual([false, false, false]);
    const next = sign.get();
    expect(connection.questions).toBe(2);
    connection.activity++;
    clock.advance(WITHIN_MS);
    expect(await next).toBe(true);
  });

  test('and ends gives no sign, and leaves no timer', async () => {
    let close = () => {};
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const { clock, sign } = asked(closed);
    const answer = sign.get();
    close();
    expect(await answer).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('over a WebSocket', () => {
  /** A question to a client, with or without much that is queued before it. */
  async function ask(client: { readonly reads: 'all' | 'slowly' | 'nothing' }, queuedBytes: number) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const far = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [[near, { socket }]] = (await Promise.all([once(server, 'connection'), once(far, 'open')])) as [
      [WebSocket, IncomingMessage],
      unknown,
    ];
    onTestFinished(() => {
      far.terminate();
      server.close();
    });
    if (client.reads !== 'all') far.pause();
    if (client.reads === 'slowly') onTestFinished(readSlowly(far));
    const transport = createWebSocketTransport(near, { label: 'test', stream: socket as Socket });
    transport.open({ onMessage() {}, onMalformed() {}, onDrain() {}, onClose() {} });
    if (queuedBytes > 0) {
      transport.send('x'.repeat(queuedBytes));
      if (client.reads === 'nothing') await untilStuck(socket as Socket);
    }
    const sign = new SignOfLife(
      {
        measureActivity: (untilNextMs) => transport.measureActivity?.(untilNextMs) ?? 0,
        ask: () => transport.ping?.(),
        closed: never,
      },
      systemClock,
      WITHIN_MS,
    );
    return sign.get();
  }

  /** Resolves when the buffers of both ends are full. */
  async function untilStuck(socket: Socket): Promise<void> {
    await once(socket.setTimeout(100), 'timeout');
    socket.setTimeout(0);
  }

  /** Reads a little now and then. */
  function readSlowly(client: WebSocket): () => void {
    const timer = setInterval(() => {
      client.resume();
      setImmediate(() => client.pause());
    }, 20);
    return () => clearInterval(timer);
  }

  const FLOOD_BYTES = 256 * 1024 * 1024;

  test.each([
    { reads: 'all', queuedBytes: 0, alive: true },
    { reads: 'nothing', queuedBytes: 0, alive: false },
    { reads: 'slowly', queuedBytes: FLOOD_BYTES, alive: true },
    { reads: 'nothing', queuedBytes: FLOOD_BYTES, alive: false },
  ] as const)('a client that reads $reads of $queuedBytes queued bytes: $alive', async (client) => {
    expect(await ask(client, client.queuedBytes)).toBe(client.alive);
  });
});
