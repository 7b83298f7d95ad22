import { PassThrough } from 'node:stream';
import { openInProcessWire, openWire } from '@exec-server/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeBackends } from '../../src/sandbox/backends.js';
import { FakeClock } from '../support/fake-clock.js';
import { openServer } from '../support/session.js';

const HANDSHAKE_MS = 5_000;

// The first server of a process takes connections when it knows what works here.
beforeAll(() => describeBackends().then(() => {}));

function open() {
  const clock = new FakeClock();
  return { clock, server: openServer({ clock, handshakeMs: HANDSHAKE_MS }) };
}

const isSettled = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]);

describe('a connection without initialize', () => {
  it('lasts until its time is over, and no longer', async () => {
    const { clock, server } = open();
    const wire = openInProcessWire(server);
    clock.advance(HANDSHAKE_MS - 1);
    expect(await isSettled(wire.closed)).toBe(false);
    clock.advance(1);
    await wire.closed;
    expect(clock.pendingTimers).toBe(0);
  });

  it('is told why, over a WebSocket', async () => {
    const { clock, server } = open();
    const { url } = await server.listen('ws://127.0.0.1:0', { keepAlive: { pingIntervalMs: 1e9 } });
    const wire = await openWire(url);
    // Other requests are no handshake.
    expect((await wire.request('environment/status')).error).toMatchObject({ code: -32600 });
    clock.advance(HANDSHAKE_MS);
    expect(await wire.closed).toEqual({ code: 1008, reason: 'no initialize within 5 seconds' });
  });

  it('gets no more time for an initialize that failed', async () => {
    const { clock, server } = open();
    const wire = openInProcessWire(server);
    clock.advance(HANDSHAKE_MS - 1);
    expect((await wire.request('initialize', {})).error).toBeDefined();
    clock.advance(1);
    await wire.closed;
  });

  it('stays on stdio, where nobody else waits', async () => {
    const { clock, server } = open();
    const [input, output] = [new PassThrough(), new PassThrough()];
    await server.listen('stdio', { streams: { input, output } });
    expect(clock.pendingTimers).toBe(0);
    input.end();
  });
});

it('a connection that has shaken hands has all the time there is', async () => {
  const { clock, server } = open();
  const wire = openInProcessWire(server);
  clock.advance(HANDSHAKE_MS - 1);
  expect((await wire.request('initialize', { clientName: 'test' })).result).toBeDefined();
  wire.send({ method: 'initialized' });
  clock.advance(HANDSHAKE_MS * 1000);
  expect((await wire.request('environment/status')).result).toBeDefined();
});
