import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectError } from '@exec-server/rpc';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { connectWebSocketClient } from '../../src/node/index.js';

let server: WebSocketServer;
let url: string;
beforeEach(async () => {
  server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: ({ req }: { req: IncomingMessage }) => req.headers.authorization === 'Bearer right',
  });
  await once(server, 'listening');
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('connection', (socket: WebSocket) => {
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString('utf8'));
      if (method === 'initialize') socket.send(JSON.stringify({ id, result: { sessionId: 's' } }));
      if (method === 'environment/status') socket.send(JSON.stringify({ id, result: { status: 'ready' } }));
    });
  });
});
afterEach(async () => {
  for (const socket of server.clients) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

test('connects, performs the handshake and calls', async () => {
  const client = await connectWebSocketClient(url, { clientName: 'test', token: 'right' });
  expect(client.sessionId).toBe('s');
  expect(await client.call('environment/status', null)).toEqual({ status: 'ready' });
  client.close();
  expect(await client.closed).toBeUndefined();
});

test('a wrong token is a ConnectError with its status', async () => {
  const failure = await connectWebSocketClient(url, { clientName: 'test', token: 'wrong' }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ConnectError);
  expect(failure).toMatchObject({ status: 401 });
});
