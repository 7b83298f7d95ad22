import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { openListener } from '../../src/listen/open-listener.js';
import { createEcho } from './support.js';

/** Two streams as a process has them, and what was written to the second. */
function createStreams() {
  const written: string[] = [];
  const input = new PassThrough();
  const output = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  return { input, output, text: () => written.join('') };
}

it.each(['stdio', 'stdio://'])('%s takes the one connection that is there and ends with it', async (url) => {
  const { input, output, text } = createStreams();
  const { accept, connections, labels, closed } = createEcho();
  const listener = await openListener(url, { streams: { input, output } }, accept);
  expect(listener.url).toBe('stdio');
  expect(connections).toEqual([
    expect.objectContaining({ principal: { kind: 'anonymous' }, remote: 'stdio', resumable: false }),
  ]);
  expect(labels).toEqual(['exec-server stdio']);
  input.end('{"id":1}\r\n\n{"id":2}');
  await listener.ended;
  expect(await closed).toBeUndefined();
  expect(text()).toBe('{"id":1}\n{"id":2}\n');
});

it('lets its connection go on when the listener is closed', async () => {
  const { input, output, text } = createStreams();
  const listener = await openListener('stdio', { streams: { input, output } }, createEcho().accept);
  await listener.close();
  input.end('x');
  await listener.ended;
  expect(text()).toBe('x\n');
});
