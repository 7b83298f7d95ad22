import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ConnectionLostError, Peer, type PeerOptions } from '../src/index.js';
import { createLineTransport } from '../src/node/index.js';

function startPeer(options: Partial<PeerOptions>) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = createLineTransport({ input, output, label: 'exec-server stdio' });
  const peer = new Peer(transport, {
    parseErrors: 'answer',
    onRequest() {},
    onNotification() {},
    ...options,
  });
  return { peer, input, output };
}

async function readAll(output: PassThrough): Promise<string> {
  const pieces: string[] = [];
  output.on('data', (piece: Buffer) => pieces.push(piece.toString('utf8')));
  await once(output, 'close');
  return pieces.join('');
}

describe('a peer whose input ends', () => {
  test('answers what it has read, then closes', async () => {
    const { peer, input, output } = startPeer({
      onRequest: ({ id }) => void setImmediate(() => peer.respond(id, 'answer')),
    });
    input.end('{"id":1,"method":"a"}\n{"id":2,"method":"b"}');
    expect(await readAll(output)).toBe('{"id":1,"result":"answer"}\n{"id":2,"result":"answer"}\n');
    expect(await peer.closed).toBeUndefined();
  });

  test('counts answers that come encoded', async () => {
    const { peer, input, output } = startPeer({
      onRequest: () => void setImmediate(() => peer.respondBytes(Buffer.from('{"id":1,"result":{}}\n'))),
    });
    input.end('{"id":1,"method":"a"}');
    expect(await readAll(output)).toBe('{"id":1,"result":{}}\n');
    expect(await peer.closed).toBeUndefined();
  });

  test('closes at once when nothing is in flight, and its own calls fail', async () => {
    const { peer, input } = startPeer({});
    const call = peer.request('m', null);
    input.end();
    await expect(call).rejects.toThrow(ConnectionLostError);
    expect(await peer.closed).toBeUndefined();
  });

  test('does not wait for a request beyond the grace', async () => {
    const { peer, input } = startPeer({ endOfInputGraceMs: 5 });
    input.end('{"id":1,"method":"never"}\n');
    expect(await peer.closed).toBeUndefined();
  });
});
