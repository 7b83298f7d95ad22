import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ConnectError, connectBrowserWebSocket } from '../src/index.js';
import { recordTransport } from './support/record-transport.js';
import { closeServer, listenWebSocket } from './support/websocket-pair.js';

// The client class of `ws` has the interface of the browsers'; Node 20 has none of its own.
beforeEach(() => vi.stubGlobal('WebSocket', WebSocket));
afterEach(() => vi.unstubAllGlobals());

test('hands the token over as a subprotocol', async () => {
  const offered: string[] = [];
  const { server, url } = await listenWebSocket({
    handleProtocols(protocols) {
      offered.push(...protocols);
      return offered[0] ?? false;
    },
  });
  const accepted = once(server, 'connection');
  const transport = await connectBrowserWebSocket(url, { token: 'é??>>~' });
  const encoded = Buffer.from('é??>>~').toString('base64url');
  expect(offered).toEqual(['exec-server', `exec-server.bearer.${encoded}`]);
  expect(transport.label).toBe(`exec-server websocket ${url}`);
  const [socket] = await accepted;
  socket.send('1');
  expect(await recordTransport(transport).until(1)).toEqual(['1']);
  await closeServer(server);
});

test('nobody listening is a ConnectError', async () => {
  const { server, url } = await listenWebSocket();
  await closeServer(server);
  await expect(connectBrowserWebSocket(url)).rejects.toThrow(ConnectError);
});

test('a server that never answers is given up', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(connectBrowserWebSocket(url, { timeoutMs: 20 })).rejects.toThrow('no connection within 20 ms');
  for (const socket of sockets) socket.destroy();
  server.close();
});
