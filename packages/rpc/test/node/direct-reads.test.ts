import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { readDirectly } from '../../src/node/direct-reads.js';
import { BINARY, type ClientFrame, encodeClientFrame, PING, textFrame } from '../support/client-frames.js';

const MAX_MESSAGE_BYTES = 100_000;
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** A server of one kind, and what each of its connections heard. */
class Listener {
  readonly #server = createServer();
  readonly #upgrader = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  readonly #waiting: ((connection: Connection) => void)[] = [];

  constructor(isDirect: boolean) {
    this.#server.on('upgrade', (request, socket: Socket, head) => {
      const direct = isDirect ? readDirectly(socket, MAX_MESSAGE_BYTES) : undefined;
      if (isDirect && direct === undefined) throw new Error('this version of Node has no such reads');
      this.#upgrader.handleUpgrade(request, direct?.stream ?? socket, head, (webSocket) => {
        direct?.deliverTo(webSocket);
        this.#waiting.shift()?.(new Connection(webSocket, direct?.stream ?? socket));
      });
    });
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }

  async connect(): Promise<{ client: Socket; connection: Connection }> {
    const { port } = this.#server.address() as AddressInfo;
    const accepted = new Promise<Connection>((resolve) => this.#waiting.push(resolve));
    const client = connect({ host: '127.0.0.1', port, noDelay: true });
    // The server may cut the connection while something is still on its way to it.
    client.on('error', () => {});
    client.write(UPGRADE);
    // Its answer: from here on the server reads frames.
    await once(client, 'data');
    client.resume();
    return { client, connection: await accepted };
  }
}

class Connection {
  readonly heard: string[] = [];
  readonly closed: Promise<void>;

  constructor(
    readonly webSocket: WebSocket,
    readonly stream: Socket,
  ) {
    webSocket.on('message', (data: Buffer, isBinary) => {
      this.heard.push(`${isBinary ? 'binary' : 'text'} ${data.toString('latin1')}`);
    });
    webSocket.on('ping', (data) => this.heard.push(`ping ${data.toString('latin1')}`));
    webSocket.on('error', (error) => this.heard.push(`error ${error.message}`));
    this.closed = new Promise((resolve) => {
      webSocket.on('close', (code, reason) => {
        this.heard.push(`close ${code} ${reason.toString('latin1')}`);
        resolve();
      });
    });
  }

  async hasHeard(count: number): Promise<readonly string[]> {
    while (this.heard.length < count) await once(this.webSocket, 'message');
    return this.heard;
  }
}

const direct = new Listener(true);
const plain = new Listener(false);
beforeAll(async () => {
  await direct.open();
  await plain.open();
});
afterAll(async () => {
  await direct.close();
  await plain.close();
});

const key = fc.oneof(
  { weight: 9, arbitrary: fc.uint8Array({ minLength: 4, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant(new Uint8Array()) },
);
const payload = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 130 }),
  fc.nat({ max: MAX_MESSAGE_BYTES + 10 }).map((length) => Buffer.alloc(length, 'long ')),
);
const first = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0x81, 0x81, 0x81, 0x82, 0x89, 0x8a) },
  { weight: 3, arbitrary: fc.constantFrom(0x01, 0x02, 0x00, 0x80, 0x88) },
  { weight: 1, arbitrary: fc.nat({ max: 255 }) },
);
const frame: fc.Arbitrary<ClientFrame> = fc.record({ first, payload, key });

/** What a server hears of these bytes, sent in these pieces, and of the end of the connection. */
async function hear(listener: Listener, pieces: readonly Buffer[]): Promise<readonly string[]> {
  const { client, connection } = await listener.connect();
  for (const piece of pieces) await new Promise((resolve) => client.write(piece, resolve));
  client.end();
  await connection.closed;
  client.destroy();
  return connection.heard;
}

test('hears of any frames, cut anywhere, what a socket that is read as usual hears', async () => {
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { maxLength: 7 }), cuts, async (frames, shares) => {
      const bytes = Buffer.concat(frames.map(encodeClientFrame));
      const ends = [...shares.map((share) => Math.floor(share * bytes.length)), bytes.length].sort(
        (a, b) => a - b,
      );
      const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      expect(await hear(direct, pieces)).toEqual(await hear(plain, pieces));
    }),
    { numRuns: 150 },
  );
}, 60_000);

describe('a connection that is read directly', () => {
  it('tells messages of every kind in their order', async () => {
    const { client, connection } = await direct.connect();
    const binary = encodeClientFrame({ first: BINARY, payload: Buffer.from('2') });
    const ping = encodeClientFrame({ first: PING, payload: Buffer.from('4') });
    client.write(Buffer.concat([textFrame('1'), binary, textFrame('3'), ping, textFrame('5')]));
    expect(await connection.hasHeard(5)).toEqual(['text 1', 'binary 2', 'text 3', 'ping 4', 'text 5']);
    client.destroy();
    await connection.closed;
  });

  it('reads nothing while it is paused, and all of it in order afterwards', async () => {
    const { client, connection } = await direct.connect();
    const long = 'x'.repeat(MAX_MESSAGE_BYTES);
    connection.webSocket.on('message', (data: Buffer) => {
      if (data.toString() === 'pause') connection.webSocket.pause();
    });
    client.write(Buffer.concat([textFrame('pause'), textFrame('after'), textFrame(long)]));
    // More than the kernel takes for a reader that does not read: the write cannot be over before it reads.
    const rest = Array.from({ length: 150 }, (_, index) => textFrame(`${index} ${long.slice(10)}`));
    let isWritten = false;
    client.write(Buffer.concat(rest), () => {
      isWritten = true;
    });
    await connection.hasHeard(1);
    const { bytesRead } = connection.stream;
    // While others are read many times over.
    for (let others = 0; others < 10; others++) await hear(direct, [textFrame('other')]);
    expect(connection.heard).toEqual(['text pause']);
    expect(isWritten).toBe(false);
    expect(connection.stream.bytesRead - bytesRead).toBeLessThan(MAX_MESSAGE_BYTES * 10);
    connection.webSocket.resume();
    const heard = await connection.hasHeard(3 + rest.length);
    expect(heard.slice(1, 3)).toEqual(['text after', `text ${long}`]);
    expect(heard.slice(3).map((text) => Number.parseInt(text.slice('text '.length), 10))).toEqual(
      rest.map((_, index) => index),
    );
    client.destroy();
    await connection.closed;
  });

  it('says what ended it', async () => {
    const { client, connection } = await direct.connect();
    const failed = once(connection.stream, 'error');
    client.resetAndDestroy();
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
    await connection.closed;
    expect(connection.heard).toEqual(['close 1006 ']);
  });
});

describe('a connection is left as it is', () => {
  async function upgrade(): Promise<{ client: Socket; socket: Socket; release: () => Promise<void> }> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const upgraded = once(server, 'upgrade');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(UPGRADE);
    const [, socket] = await upgraded;
    const release = async () => {
      client.destroy();
      socket.destroy();
      server.close();
      await once(server, 'close');
    };
    return { client, socket, release };
  }

  test('when something of it was read', async () => {
    const { client, socket, release } = await upgrade();
    client.write('more');
    while (socket.readableLength === 0) await new Promise(setImmediate);
    expect(readDirectly(socket, MAX_MESSAGE_BYTES)).toBeUndefined();
    expect(socket.read()?.toString()).toBe('more');
    await release();
  });

  test('when it has ended', async () => {
    const { client, socket, release } = await upgrade();
    client.end();
    await once(socket, 'end');
    expect(readDirectly(socket, MAX_MESSAGE_BYTES)).toBeUndefined();
    expect(socket.writable).toBe(true);
    await release();
  });

  test('when it has nothing below that could read into given memory', () => {
    expect(readDirectly(new Socket(), MAX_MESSAGE_BYTES)).toBeUndefined();
  });
});
