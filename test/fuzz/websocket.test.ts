import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createExecServer } from '@exec-server/server';
import { before, openWire } from '@exec-server/testing';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { anyText } from './json-text.js';
import { testProperty } from './property.js';
import { answerOrEnd } from './random-requests.js';

const server = createExecServer();
const listener = await server.listen('ws://127.0.0.1:0');
const { port } = new URL(listener.url);
afterAll(() => server.close());

const UPGRADE = [
  'GET / HTTP/1.1',
  `Host: 127.0.0.1:${port}`,
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
];

/** Payload lengths up to this one are written in the second byte of a frame. */
const MAX_SHORT_LENGTH = 125;

interface Frame {
  readonly final: boolean;
  readonly reserved: number;
  readonly opcode: number;
  readonly masked: boolean;
  readonly payload: Buffer;
  /** What the header says that the payload has too much or too little, in bytes. */
  readonly lie: number;
}

const frame: fc.Arbitrary<Frame> = fc.record({
  final: fc.boolean(),
  reserved: fc.constantFrom(0, 0, 0, 1, 4, 7),
  opcode: fc.oneof(fc.constantFrom(0, 1, 1, 2, 8, 9, 10), fc.nat({ max: 15 })),
  masked: fc.constantFrom(true, true, true, false),
  payload: fc.oneof(
    anyText.map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  ),
  lie: fc.constantFrom(0, 0, 0, 1, -1, 70_000),
});

/** A frame as it goes over the wire, masked with zeros. */
function encodeFrame({ final, reserved, opcode, masked, payload, lie }: Frame): Buffer {
  const length = Math.max(0, payload.length + lie);
  const mask = masked ? 0x80 : 0;
  const first = (final ? 0x80 : 0) | (reserved << 4) | opcode;
  const head = Buffer.alloc(length <= MAX_SHORT_LENGTH ? 2 : 10);
  head[0] = first;
  head[1] = mask | (length <= MAX_SHORT_LENGTH ? length : 127);
  if (length > MAX_SHORT_LENGTH) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0), payload]);
}

/** The head of an HTTP request with one line changed, or bytes that are none. */
const head = fc.oneof(
  fc
    .tuple(fc.nat({ max: UPGRADE.length - 1 }), fc.string({ unit: 'binary', maxLength: 40 }))
    .map(([at, line]) => Buffer.from(UPGRADE.with(at, line).join('\r\n'))),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
);

/** Sends bytes in pieces, ends its own side and waits until the server has ended the connection. */
async function sendAndLeave(pieces: readonly Buffer[]): Promise<void> {
  const socket: Socket = connect({ host: '127.0.0.1', port: Number(port), noDelay: true });
  // The server may cut the connection while something is still on its way to it.
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.resume();
  for (const piece of pieces) socket.write(piece);
  socket.end();
  await before(closed, () => {
    socket.destroy();
    return new Error('the server kept a connection that its client had left');
  });
}

async function expectServing(): Promise<void> {
  using wire = await openWire(listener.url);
  const { result } = await wire.request('initialize', { clientName: 'witness' });
  expect(result?.sessionId).toBeTypeOf('string');
}

testProperty(
  'frames of any kind end with their connection, and the server serves on',
  fc.asyncProperty(fc.array(frame, { maxLength: 6 }), async (frames) => {
    await sendAndLeave([Buffer.from(UPGRADE.join('\r\n')), ...frames.map(encodeFrame)]);
    await expectServing();
  }),
  250,
);

testProperty(
  'a request that is no upgrade ends with its connection, and the server serves on',
  fc.asyncProperty(head, async (bytes) => {
    await sendAndLeave([bytes]);
    await expectServing();
  }),
  150,
);

testProperty(
  'messages of any kind are answered or end the connection',
  fc.asyncProperty(
    fc.array(
      fc.oneof(
        anyText,
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      { minLength: 1, maxLength: 5 },
    ),
    async (messages) => {
      using wire = await openWire(listener.url);
      for (const message of messages) wire.sendRaw(message);
      await answerOrEnd(wire, wire.request('initialize', { clientName: 'fuzz' }));
      await expectServing();
    },
  ),
  150,
);
