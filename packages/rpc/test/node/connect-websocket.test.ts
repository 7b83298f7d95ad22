import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { WebSocket, WebSocketServer } from 'ws';
import { ConnectError } from '../../src/index.js';
import { connectWebSocket } from '../../src/node/index.js';
import { recordTransport } from '../support/record-transport.js';
import { closeServer, listenWebSocket } from '../support/websocket-pair.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

async function listen(): Promise<{ server: WebSocketServer; url: string }> {
  const listening = await listenWebSocket();
  cleanups.push(() => closeServer(listening.server));
  return listening;
}

async function refuseWith(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  server.on('upgrade', (request, socket) => {
    // Node hands upgrades over raw; a refusal is an ordinary answer.
    socket.end(`HTTP/1.1 ${request.url?.slice(1)} x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failureOf = (connecting: Promise<unknown>) =>
  connecting.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('connectWebSocket', () => {
  test('connects with token and headers, without extensions or Origin', async () => {
    const { server, url } = await listen();
    const accepted = once(server, 'connection');
    const transport = await connectWebSocket(url, { token: 't0k', headers: { 'x-request-id': '7' } });
    const [far, request] = await accepted;
    expect(request.headers).toMatchObject({ authorization: 'Bearer t0k', 'x-request-id': '7' });
    expect(request.headers).not.toHaveProperty('origin');
    expect(request.headers).not.toHaveProperty('sec-websocket-extensions');
    expect([transport.label, transport.framing]).toEqual([`exec-server websocket ${url}`, 'websocket']);
    far.send('hello');
    const record = recordTransport(transport);
    expect(await record.until(1)).toEqual(['hello']);
    far.close();
    expect(await record.closed).toBeUndefined();
  });

  test('delivers what the server sent with its handshake', async () => {
    const { server, url } = await listen();
    server.on('connection', (socket: WebSocket) => socket.send('first'));
    const transport = await connectWebSocket(url);
    await new Promise(setImmediate);
    expect(await recordTransport(transport).until(1)).toEqual(['first']);
  });

  test('a connection reset later has its reason', async () => {
    const { server, url } = await listen();
    const accepted = once(server, 'connection');
    const record = recordTransport(await connectWebSocket(url));
    const [, request] = await accepted;
    (request.socket as Socket).resetAndDestroy();
    expect(await record.closed).toMatch(/ECONNRESET/);
  });

  test('a protocol error later ends with its reason, not with an unhandled error', async () => {
    const { server, url } = await listen();
    server.on('connection', (socket: WebSocket) => socket.send(Buffer.from([0xff]), { binary: false }));
    const record = recordTransport(await connectWebSocket(url));
    expect(await record.closed).toContain('invalid UTF-8 sequence');
  });

  test.each([401, 403, 404, 503])('a refusal with %i carries status and body', async (status) => {
    const url = await refuseWith(() => {});
    const failure = await failureOf(connectWebSocket(`${url}/${status}`));
    expect(failure).toBeInstanceOf(ConnectError);
    expect(failure).toMatchObject({ status, message: expect.stringContaining(`: ${status} no!`) });
  });

  test('nobody listening is a ConnectError with its cause', async () => {
    const { server, url } = await listenWebSocket();
    await closeServer(server);
    const failure = await failureOf(connectWebSocket(url));
    expect(failure).toBeInstanceOf(ConnectError);
    expect(failure).toMatchObject({ status: undefined, cause: { code: 'ECONNREFUSED' } });
  });

  test('a server that never answers is given up', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failure = await failureOf(connectWebSocket(url, { timeoutMs: 20 }));
    expect(failure).toBeInstanceOf(ConnectError);
    expect(failure).toMatchObject({ message: expect.stringContaining('no connection within 20 ms') });
  });

  test.each(['no url', 'ftp://127.0.0.1/'])('%j is refused', async (url) => {
    expect(await failureOf(connectWebSocket(url))).toBeInstanceOf(ConnectError);
  });

  test('credentials in the address stay out of labels and errors', async () => {
    const { url } = await listen();
    const transport = await connectWebSocket(url.replace('//', '//me:secret@'));
    expect(transport.label).not.toContain('secret');
    transport.destroy('done');
    const refused = await failureOf(connectWebSocket('ws://me:secret@127.0.0.1:1/'));
    expect(String(refused)).not.toContain('secret');
  });
});
