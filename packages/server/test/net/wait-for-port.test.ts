import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { waitForOpenPort } from '../../src/net/wait-for-port.js';

const never = new AbortController().signal;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

describe('waitForOpenPort', () => {
  it('sees a port that is open', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await waitForOpenPort({ port, timeoutMs: 0, clock: systemClock, signal: never })).toBe(true);
    server.close();
  });

  it('waits for one that opens later', async () => {
    const port = await freePort();
    const waiting = waitForOpenPort({ port, timeoutMs: 10_000, clock: systemClock, signal: never });
    const server = createServer().listen(port, '127.0.0.1');
    expect(await waiting).toBe(true);
    server.close();
  });

  it('says no when the time is up', async () => {
    const port = await freePort();
    const wait = { port, host: '127.0.0.1', timeoutMs: 30, clock: systemClock, signal: never };
    expect(await waitForOpenPort(wait)).toBe(false);
  });

  it('gives up with its caller', async () => {
    const port = await freePort();
    const gone = new AbortController();
    const waiting = waitForOpenPort({ port, timeoutMs: 60_000, clock: systemClock, signal: gone.signal });
    gone.abort(new Error('disconnected'));
    await expect(waiting).rejects.toThrow('disconnected');
  });
});
