import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type Fault, FaultProxy, openWire } from '../src/index.js';

/** A server that answers each request with its number, and remembers what it got and how connections ended. */
async function serve() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  onTestFinished(() => server.close());
  const received: unknown[] = [];
  const ends: number[] = [];
  server.on('connection', (socket: WebSocket) => {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { id: number };
      received.push(message.id);
      socket.send(JSON.stringify({ id: message.id, result: { text: 'x'.repeat(1000) } }));
    });
    socket.on('error', () => {});
    socket.on('close', (code) => ends.push(code));
  });
  const closedOnce = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => (ends.length >= count ? resolve() : setImmediate(look));
      look();
    });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    closedOnce,
    clients: () => server.clients.size,
  };
}

async function proxyTo(url: string, faults: readonly Fault[] = []): Promise<FaultProxy> {
  const proxy = await FaultProxy.start(url, faults);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

const answerTo = (id: number): Fault['at'] => ({
  matching: (message) => message.id === id,
  name: `the answer to ${id}`,
});

describe('without faults', () => {
  test('everything passes as it is, however it is cut into packets', async () => {
    const server = await serve();
    const proxy = await proxyTo(server.url);
    const wire = await openWire(proxy.url);
    for (let id = 1; id <= 50; id++) await wire.request('echo');
    expect(server.received).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    expect((await wire.close()).code).toBe(1000);
    await server.closedOnce(1);
    expect(proxy.story).toEqual(['connection 1']);
  });

  test.each([0, 1, 125, 126, 127, 65_535, 65_536, 3_000_000])(
    'text messages of %i bytes pass both ways',
    async (length) => {
      const echo = new WebSocketServer({ host: '127.0.0.1', port: 0 });
      await once(echo, 'listening');
      onTestFinished(() => echo.close());
      echo.on('connection', (socket: WebSocket) => {
        socket.on('message', (data: Buffer) => socket.send(data.toString()));
      });
      const proxy = await proxyTo(`ws://127.0.0.1:${(echo.address() as AddressInfo).port}`);
      const client = new WebSocket(proxy.url);
      onTestFinished(() => client.terminate());
      await once(client, 'open');
      const text = randomBytes(Math.ceil(length / 2))
        .toString('hex')
        .slice(0, length);
      client.send(text);
      const [back] = (await once(client, 'message')) as [Buffer];
      const digest = (of: string) => createHash('sha256').update(of).digest('hex');
      expect(digest(back.toString())).toBe(digest(text));
    },
  );

  test('lines pass through a Unix socket', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'fault-proxy-test-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const path = join(directory, 'server');
    const server = createServer((socket) => socket.pipe(socket)).listen(path);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const proxy = await proxyTo(`unix://${path}`, [
      { direction: 'toClient', at: { message: 2 }, action: 'cut' },
    ]);
    const client = createConnection(proxy.url.slice('unix://'.length));
    client.on('error', () => {});
    let received = '';
    client.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      if (received === '{"id":1}\n') client.write('{"id":2}\n');
    });
    client.write('{"id":1}\n');
    await once(client, 'close');
    expect(received).toBe('{"id":1}\n');
    expect(proxy.pending).toEqual([]);
  });
});

describe('faults', () => {
  test.each([
    // What the server has received when the client sees the end, and whether the answer has come.
    [{ direction: 'toServer', at: { message: 2 }, action: 'cut' }, [1], false],
    [{ direction: 'toServer', at: { message: 2 }, action: 'cutAfter' }, [1, 2], false],
    [{ direction: 'toServer', at: { message: 2 }, action: 'truncate' }, [1], false],
    [{ direction: 'toServer', at: { message: 2 }, action: 'halfClose' }, [1], false],
    [{ direction: 'toServer', at: { message: 2 }, action: 'delay' }, [1, 2], true],
    [{ direction: 'toClient', at: answerTo(2), action: 'cut' }, [1, 2], false],
    [{ direction: 'toClient', at: answerTo(2), action: 'cutAfter' }, [1, 2], true],
    [{ direction: 'toClient', at: answerTo(2), action: 'truncate' }, [1, 2], false],
    [{ direction: 'toClient', at: answerTo(2), action: 'halfClose' }, [1, 2], false],
    [{ direction: 'toClient', at: answerTo(2), action: 'delay' }, [1, 2], true],
    [{ direction: 'toClient', at: { bytes: 1500 }, action: 'cut' }, [1, 2], false],
  ] satisfies [Fault, number[], boolean][])('%j', async (fault, received, answered) => {
    const server = await serve();
    const proxy = await proxyTo(server.url, [fault]);
    const wire = await openWire(proxy.url);
    await wire.request('echo');
    const second = await wire.request('echo').then(
      () => true,
      () => false,
    );
    expect(second).toBe(answered);
    if (fault.action !== 'delay') await server.closedOnce(1);
    expect(server.received).toEqual(received);
    expect(proxy.story).toHaveLength(2);
    expect(proxy.pending).toEqual([]);
    // Each strikes once: another connection is whole.
    const next = await openWire(proxy.url);
    await next.request('echo');
    await next.request('echo');
    await next.close();
    wire.terminate();
  });

  test('a stranded server believes in its connection until two more have come', async () => {
    const server = await serve();
    const proxy = await proxyTo(server.url, [
      { direction: 'toClient', at: { message: 1 }, action: 'strand' },
    ]);
    const first = await openWire(proxy.url);
    await expect(first.request('echo')).rejects.toThrow();
    const second = await openWire(proxy.url);
    await second.request('echo');
    expect(server.clients()).toBe(2);
    const third = await openWire(proxy.url);
    await third.request('echo');
    await server.closedOnce(1);
    expect(server.clients()).toBe(2);
    await Promise.all([second.close(), third.close()]);
  });

  test('a black hole takes everything and tells nobody, not even of an end', async () => {
    const server = await serve();
    const proxy = await proxyTo(server.url, [
      { connection: 1, direction: 'toClient', at: { message: 2 }, action: 'blackHole' },
    ]);
    const first = await openWire(proxy.url);
    await first.request('echo');
    first.send({ id: 2, method: 'echo' });
    await proxy.until((line) => line.includes('blackHole'));
    first.send({ id: 3, method: 'echo' });
    first.terminate();
    await first.closed;
    const second = await openWire(proxy.url);
    await second.request('echo');
    expect(first.received).toHaveLength(1);
    expect(server.received).toEqual([1, 2, 1]);
    expect(server.clients()).toBe(2);
    await second.close();
  });

  test('swallowAll does the same to every connection there is, and to none after it', async () => {
    const server = await serve();
    const proxy = await proxyTo(server.url);
    const first = await openWire(proxy.url);
    await first.request('echo');
    proxy.swallowAll();
    first.send({ id: 2, method: 'echo' });
    const second = await openWire(proxy.url);
    await second.request('echo');
    expect(server.received).toEqual([1, 1]);
    await second.close();
    first.terminate();
  });

  test('connections are refused as often as asked for', async () => {
    const server = await serve();
    const proxy = await proxyTo(server.url, [
      { direction: 'toClient', at: { message: 1 }, action: 'cut', refuse: 2 },
    ]);
    const first = await openWire(proxy.url);
    await expect(first.request('echo')).rejects.toThrow();
    await expect(openWire(proxy.url)).rejects.toThrow();
    await expect(openWire(proxy.url)).rejects.toThrow();
    const fourth = await openWire(proxy.url);
    await fourth.request('echo');
    await fourth.close();
    expect(proxy.story).toEqual([
      'connection 1',
      'on connection 1: cut toClient on any connection at message 1, then 2 refused',
      'connection refused',
      'connection refused',
      'connection 2',
    ]);
    expect(proxy.connections).toBe(2);
  });

  test('wait for their connection', async () => {
    const server = await serve();
    const proxy = await proxyTo(server.url, [
      { connection: 2, direction: 'toClient', at: { message: 1 }, action: 'cut' },
    ]);
    const first = await openWire(proxy.url);
    await first.request('echo');
    const second = await openWire(proxy.url);
    await expect(second.request('echo')).rejects.toThrow();
    await first.request('echo');
    await first.close();
  });

  test.each([999, 1000, 1001])('a cut at byte %i passes exactly so many', async (bytes) => {
    const path = await serveBytes();
    const proxy = await proxyTo(path.url, [{ direction: 'toClient', at: { bytes }, action: 'truncate' }]);
    const { port } = new URL(proxy.url);
    const client = createConnection(Number(port), '127.0.0.1');
    client.on('error', () => {});
    let received = 0;
    client.on('data', (data: Buffer) => {
      received += data.length;
    });
    client.write('GET / HTTP/1.1\r\n\r\n');
    await once(client, 'close');
    expect(received).toBe(bytes);
  });

  test('cutAll cuts what there is', async () => {
    const server = await serve();
    const proxy = await proxyTo(server.url);
    const wire = await openWire(proxy.url);
    await wire.request('echo');
    proxy.cutAll(1);
    await proxy.until((line) => line.startsWith('everything cut'));
    await wire.closed;
    await expect(openWire(proxy.url)).rejects.toThrow();
    const next = await openWire(proxy.url);
    await next.close();
  });

  test('a server that is not there ends the connection', async () => {
    const proxy = await proxyTo('ws://127.0.0.1:1');
    await expect(openWire(proxy.url)).rejects.toThrow();
  });
});

/** Answers a handshake, then sends unmasked frames without end. */
async function serveBytes(): Promise<{ url: string }> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 x\r\n\r\n');
      for (let count = 0; count < 100; count++) socket.write(Buffer.from([0x81, 2, 0x7b, 0x7d]));
      socket.write(Buffer.concat([Buffer.from([0x81, 126, 0x10, 0]), Buffer.alloc(4096, 0x20)]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
