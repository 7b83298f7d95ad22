import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { openWire, UpgradeRefused } from '../src/open-wire.js';

let server: WebSocketServer;
let url: string;

beforeEach(async () => {
  server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: ({ origin, req }, done) => {
      done(origin !== 'http://evil' && req.headers['x-refuse'] === undefined, 403, 'not you');
    },
  });
  await once(server, 'listening');
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  for (const client of server.clients) client.terminate();
  server.close();
});

function onConnection(handle: (socket: WebSocket) => void): void {
  server.once('connection', handle);
}

test('requests count their ids and find their answers among other messages', async () => {
  onConnection((socket) => {
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
      socket.send(JSON.stringify({ method: 'noise', params: {} }));
      socket.send(JSON.stringify({ id, result: { method } }));
    });
  });
  using wire = await openWire(url);
  expect(await wire.request('first')).toEqual({ id: 1, result: { method: 'first' } });
  expect(await wire.request('second', {})).toEqual({ id: 2, result: { method: 'second' } });
  expect(wire.unread.map(({ method }) => method)).toEqual(['noise', 'noise']);
  expect(wire.received).toHaveLength(4);
});

test('a message in the same packet as the upgrade is received', async () => {
  onConnection((socket) => socket.send(JSON.stringify({ method: 'hello' })));
  using wire = await openWire(url);
  expect(await wire.next(({ method }) => method === 'hello', 'hello')).toEqual({ method: 'hello' });
});

test('text and bytes are sent as such', async () => {
  const kinds: boolean[] = [];
  const both = new Promise<void>((resolve) => {
    onConnection((socket) => {
      socket.on('message', (_data, isBinary) => {
        if (kinds.push(isBinary) === 2) resolve();
      });
    });
  });
  using wire = await openWire(url);
  wire.sendRaw('not json');
  wire.sendRaw(Buffer.from('{}'));
  await both;
  expect(kinds).toEqual([false, true]);
});

test('tells code and reason of a close frame, and 1006 without one', async () => {
  onConnection((socket) => socket.close(1002, 'bad manners'));
  const polite = await openWire(url);
  expect(await polite.closed).toEqual({ code: 1002, reason: 'bad manners' });

  onConnection((socket) => socket.terminate());
  const rude = await openWire(url);
  expect(await rude.closed).toEqual({ code: 1006, reason: '' });
});

test('whoever waits on a connection that closes is told so', async () => {
  onConnection((socket) => socket.close(1001, 'going'));
  const wire = await openWire(url);
  await expect(wire.request('anything')).rejects.toThrow(/response to anything.*closed \(1001 going\)/);
});

test('a refused upgrade says status and body', async () => {
  const refusal = await openWire(url, { origin: 'http://evil' }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UpgradeRefused);
  expect(refusal).toMatchObject({ status: 403, body: 'not you' });
  await expect(openWire(url, { headers: { 'x-refuse': '1' } })).rejects.toThrow(UpgradeRefused);
});

test('a paused wire gets its messages when it reads again', async () => {
  onConnection((socket) => {
    socket.once('message', () => socket.send(JSON.stringify({ method: 'late' })));
  });
  using wire = await openWire(url);
  wire.pause();
  wire.send({ method: 'go' });
  wire.resume();
  await wire.next(({ method }) => method === 'late', 'the late message');
});

test('nobody listening is a failure', async () => {
  await expect(openWire('ws://127.0.0.1:1')).rejects.toThrow(/ECONNREFUSED/);
});
