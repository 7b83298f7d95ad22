import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { measureSendProgress } from '../../src/listen/socket-progress.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it('sees bytes leave in the middle of a single write', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  cleanups.push(() => server.close());
  await once(server, 'listening');
  const reader = connect((server.address() as { port: number }).port, '127.0.0.1').pause();
  cleanups.push(() => reader.destroy());
  const [writer] = (await once(server, 'connection')) as [Socket];
  cleanups.push(() => writer.destroy());
  const bytes = 64 * 1024 * 1024;
  let isWritten = false;
  writer.write(Buffer.alloc(bytes), () => {
    isWritten = true;
  });
  const blocked = measureSendProgress(writer);
  expect(blocked).toBeLessThan(bytes);
  expect(writer.writableLength).toBe(bytes);
  let taken = 0;
  reader.on('data', (chunk) => {
    taken += chunk.length;
    if (taken < bytes / 2 || reader.isPaused()) return;
    reader.pause();
    reader.emit('half');
  });
  reader.resume();
  await once(reader, 'half');
  expect(isWritten).toBe(false);
  expect(writer.writableLength).toBe(bytes);
  expect(measureSendProgress(writer)).toBeGreaterThan(blocked);
  writer.write('more');
  const before = measureSendProgress(writer);
  writer.write('and more');
  expect(measureSendProgress(writer)).toBe(before);
});
