import { expect, it } from 'vitest';
import { clientOf, MAX_CONNECTIONS } from '../../src/network-proxy/proxy-limits.js';
import { connectToPort, openProxy, readAll } from '../support/network-proxy.js';

it.each(['http', 'socks'] as const)('one connection too many to %s is closed', async (kind) => {
  const { ports } = await openProxy();
  const sockets = [];
  for (let count = 0; count < MAX_CONNECTIONS; count++) sockets.push(await connectToPort(ports[kind]));
  expect(await readAll(await connectToPort(ports[kind]))).toBe('');
  // The others are served.
  const last = sockets.at(-1);
  const answer = last && readAll(last);
  last?.write(kind === 'http' ? 'garbage\r\n\r\n' : Buffer.of(5, 1, 9));
  expect(await answer).toMatch(kind === 'http' ? /^HTTP\/1\.1 400 / : /^.\xff$/);
});

it('tells the other end', async () => {
  const { ports } = await openProxy();
  const socket = await connectToPort(ports.http);
  expect(clientOf(socket)).toBe(`127.0.0.1:${ports.http}`);
});
