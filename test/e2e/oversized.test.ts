import { expect, it } from 'vitest';
import { openSession, serve, startParams } from './session.js';

const MEBIBYTE = 1024 * 1024;

it('a 65 MiB message ends that connection alone, and the next connection resumes', async () => {
  const server = await serve();
  const { wire: neighbour } = await openSession(server.url);
  const { wire, sessionId } = await openSession(server.url);
  await wire.request('process/start', startParams('p', ['/bin/sleep', '60']));
  wire.sendRaw('x'.repeat(65 * MEBIBYTE));
  await wire.closed;
  expect((await neighbour.request('environment/status')).result).toEqual({ status: 'ready' });
  const { wire: next } = await openSession(server.url, sessionId);
  expect((await next.request('process/terminate', { processId: 'p' })).result).toMatchObject({
    running: true,
  });
});

it('a message of exactly 64 MiB is read', async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  const request = { id: 'big', method: 'process/write', params: { processId: '', chunk: '' } };
  const padding = 64 * MEBIBYTE - JSON.stringify(request).length;
  // Base64 comes in fours; the id of the process takes the rest.
  request.params.processId = 'x'.repeat(padding % 4);
  request.params.chunk = 'A'.repeat(padding - (padding % 4));
  wire.send(request);
  expect((await wire.next(({ id }) => id === 'big', 'the answer')).result).toEqual({
    status: 'unknownProcess',
  });
});
