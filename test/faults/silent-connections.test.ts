import { once } from 'node:events';
import { connect } from 'node:net';
import { openWire, type Wire } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { notificationOf, openSession, serve, startParams } from '../e2e/session.js';
import { countDescriptors, untilDescriptors } from './support.js';

const CONNECTIONS = 1_000;
const TIMEOUT_MS = 120_000;

async function expectToWork(wire: Wire, processId: string): Promise<void> {
  expect((await wire.request('process/start', startParams(processId, ['/bin/true']))).error).toBeUndefined();
  await wire.next(notificationOf(processId, 'process/closed'), `the end of ${processId}`);
}

it(`${CONNECTIONS} WebSockets that say nothing keep nobody from working, and leave nothing behind`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  await expectToWork(wire, 'before');
  const descriptors = countDescriptors(server.pid);
  const silent: Wire[] = [];
  for (let count = 0; count < CONNECTIONS; count++) silent.push(await openWire(server.url));
  // Not counted from `descriptors`: a pipe of the process from before may still be open then.
  expect(countDescriptors(server.pid)).toBeGreaterThan(CONNECTIONS);
  await expectToWork(wire, 'meanwhile');
  const { wire: late } = await openSession(server.url);
  await expectToWork(late, 'late');
  for (const one of silent) one.terminate();
  await late.close();
  await untilDescriptors(server.pid, descriptors);
});

it('those that a server has given up on are told', async () => {
  const server = await serve('--handshake-ms', '2000');
  const { wire } = await openSession(server.url);
  const silent = await Promise.all(Array.from({ length: 20 }, () => openWire(server.url)));
  for (const { closed } of silent)
    expect(await closed).toEqual({ code: 1008, reason: 'no initialize within 2 seconds' });
  await expectToWork(wire, 'after');
});

it(`${CONNECTIONS} connections that never become a WebSocket: the oldest go, a client that means it gets in`, async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  await expectToWork(wire, 'before');
  const descriptors = countDescriptors(server.pid);
  const sockets = [];
  for (let count = 0; count < CONNECTIONS; count++) {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    sockets.push(socket);
  }
  const { wire: late } = await openSession(server.url);
  await expectToWork(late, 'late');
  expect(countDescriptors(server.pid)).toBeLessThan(descriptors + CONNECTIONS / 2);
  for (const socket of sockets) socket.destroy();
  await late.close();
  await untilDescriptors(server.pid, descriptors);
});
