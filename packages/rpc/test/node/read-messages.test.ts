import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type MessageReads, readMessages } from '../../src/node/read-messages.js';
import { BINARY, type ClientFrame, encodeClientFrame, PING, textFrame } from '../support/client-frames.js';

const MAX_MESSAGE_BYTES = 100_000;
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** As ws says it. */
const TOO_LONG = /^error (Max payload size exceeded|message exceeds the limit of 100000 bytes)$/;

/** How a server reads: with ws alone, or first with ours, into its own memory or from a stream. */
type Way = 'plain' | 'direct' | 'filtered';

/** A server of one kind, and what each of its connections heard. */
class Listener {
  readonly #server = createServer();
  readonly #upgrader = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  readonly #waiting: ((connection: Connection) => void)[] = [];

  constructor(way: Way) {
    this.#server.on('upgrade', (request, socket: Socket, head) => {
      // One that claims to be encrypted is not read directly.
      if (way === 'filtered') Object.assign(socket, { encrypted: true });
      const reads = way === 'plain' ? undefined : readMessages(socket, head, { bytes: MAX_MESSAGE_BYTES });
      if (way === 'direct' && head.length === 0) expect(reads?.stream).toBe(reads?.socket);
      const stream = reads?.stream ?? socket;
      this.#upgrader.handleUpgrade(request, stream, Buffer.alloc(0), (webSocket) => {
        reads?.deliverTo(webSocket);
        this.#waiting.shift()?.(new Connection(webSocket, stream, reads));
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

  /** @param more what is sent together with the upgrade */
  async connect(more: Uint8Array = Buffer.alloc(0)): Promise<{ client: Socket; connection: Connection }> {
    const { port } = this.#server.address() as AddressInfo;
    const accepted = new Promise<Connection>((resolve) => this.#waiting.push(resolve));
    const client = connect({ host: '127.0.0.1', port, noDelay: true });
    // The server may cut the connection while something is still on its way to it.
    client.on('error', () => {});
    client.write(Buffer.concat([Buffer.from(UPGRADE), more]));
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
    readonly stream: Duplex,
    readonly reads: MessageReads | undefined,
  ) {
    webSocket.on('message', (data: Buffer, isBinary) => {
      this.heard.push(`${isBinary ? 'binary' : 'text'} ${data.toString('latin1')}`);
    });
    webSocket.on('ping', (data) => this.heard.push(`ping ${data.toString('latin1')}`));
    webSocket.on('error', (error) => this.heard.push(`error ${error.message}`.replace(TOO_LONG, 'too long')));
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

const listeners = {
  plain: new Listener('plain'),
  direct: new Listener('direct'),
  filtered: new Listener('filtered'),
};
beforeAll(async () => {
  for (const listener of Object.values(listeners)) await listener.open();
});
afterAll(async () => {
  for (const listener of Object.values(listeners)) await listener.close();
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

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });

describe.each(['direct', 'filtered'] as const)('a connection that is read first, %s', (way) => {
  const listener = listeners[way];

  it('hears of any frames, cut anywhere, what a socket that is read as usual hears', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 7 }), cuts, async (frames, shares) => {
        const bytes = Buffer.concat(frames.map(encodeClientFrame));
        const ends = [...shares.map((share) => Math.floor(share * bytes.length)), bytes.length].sort(
          (a, b) => a - b,
        );
        const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(await hear(listener, pieces)).toEqual(await hear(listeners.plain, pieces));
      }),
      { numRuns: 150 },
    );
  }, 60_000);
  it('tells messages of every kind in their order', async () => {
    const { client, connection } = await listener.connect();
    const binary = encodeClientFrame({ first: BINARY, payload: Buffer.from('2') });
    const ping = encodeClientFrame({ first: PING, payload: Buffer.from('4') });
    client.write(Buffer.concat([textFrame('1'), binary, textFrame('3'), ping, textFrame('5')]));
    expect(await connection.hasHeard(5)).toEqual(['text 1', 'binary 2', 'text 3', 'ping 4', 'text 5']);
    client.destroy();
    await connection.closed;
  });

  it('reads nothing while it is paused, and all of it in order afterwards', async () => {
    const { client, connection } = await listener.connect();
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
    const { socket } = connection.reads as MessageReads;
    const { bytesRead } = socket;
    // While others are read many times over.
    for (let others = 0; others < 10; others++) await hear(listener, [textFrame('other')]);
    expect(connection.heard).toEqual(['text pause']);
    expect(isWritten).toBe(false);
    expect(socket.bytesRead - bytesRead).toBeLessThan(MAX_MESSAGE_BYTES * 10);
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
    const { client, connection } = await listener.connect();
    const failed = once(connection.stream, 'error');
    client.resetAndDestroy();
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
    await connection.closed;
    expect(connection.heard).toEqual(['close 1006 ']);
  });

  it('holds what has come of a message, and lets go of it with the connection', async () => {
    const { client, connection } = await listener.connect();
    const { inbound } = connection.reads as MessageReads;
    const held: number[] = [];
    inbound.onHeld = () => held.push(inbound.heldBytes);
    const half = new Promise((resolve) => connection.stream.once('pong', resolve));
    connection.webSocket.on('ping', () => connection.stream.emit('pong'));
    client.write(encodeClientFrame({ first: 0x01, payload: Buffer.alloc(50_000) }));
    client.write(encodeClientFrame({ first: PING, payload: Buffer.alloc(0) }));
    await half;
    expect(inbound.heldBytes).toBeGreaterThanOrEqual(50_000);
    expect(inbound.heldBytes).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
    client.destroy();
    await connection.closed;
    expect(held.at(-1)).toBe(0);
  });

  it('says with the end that a message is too long', async () => {
    const { client, connection } = await listener.connect();
    let answer = Buffer.alloc(0);
    client.on('data', (bytes: Buffer) => {
      answer = Buffer.concat([answer, bytes]);
    });
    client.write(textFrame('x'.repeat(MAX_MESSAGE_BYTES + 1)));
    while (!answer.includes('limit')) await once(client, 'data');
    // A close frame: its length, code 1009, and words.
    expect(answer.toString('latin1')).toBe('\x88\x2b\x03\xf1message exceeds the limit of 100000 bytes');
    client.destroy();
    await connection.closed;
  });
});

it('reads what came with the upgrade', async () => {
  const listener = listeners.direct;
  const { client, connection } = await listener.connect(textFrame('with it'));
  client.write(textFrame('after it'));
  expect(await connection.hasHeard(2)).toEqual(['text with it', 'text after it']);
  client.destroy();
  await connection.closed;
});
