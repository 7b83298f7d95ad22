import { openWire } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { notificationOf, openSession, serve, startParams } from '../e2e/session.js';
import { measureResidentBytes } from './support.js';

const MIB = 1024 * 1024;
/** The queues of a connection and of its requests, and what the collector has not come to. */
const ALLOWED_GROWTH_BYTES = 160 * MIB;
const PRINTED_BYTES = 2_000 * MIB;
const REQUESTS = 20_000;

it('keeps its own process waiting, and costs neither memory nor anybody else', {
  timeout: 90_000,
}, async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  const { wire: sleeper } = await openSession(server.url);
  const { wire: flooder } = await openSession(server.url);
  const before = measureResidentBytes(server.pid);
  await sleeper.request(
    'process/start',
    startParams('p', ['/bin/sh', '-c', `head -c ${PRINTED_BYTES} /dev/zero`]),
  );
  sleeper.pause();
  flooder.pause();
  for (let id = 1; id <= REQUESTS; id++)
    flooder.send({ id: `r${id}`, method: 'fs/readFile', params: { path: 'file:///proc/self/maps' } });

  for (let count = 0; count < 200; count++) {
    await wire.request('process/start', startParams(`w${count}`, ['/bin/echo', 'hello']));
    await wire.next(notificationOf(`w${count}`, 'process/closed'), 'the end of a process');
  }
  expect(measureResidentBytes(server.pid) - before).toBeLessThan(ALLOWED_GROWTH_BYTES);

  sleeper.terminate();
  flooder.terminate();
  const late = await openWire(server.url);
  onTestFinished(() => late.terminate());
  expect((await late.request('initialize', { clientName: 'late' })).result).toBeDefined();
});
