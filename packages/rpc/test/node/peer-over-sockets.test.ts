import { afterEach, describe, expect, test } from 'vitest';
import { Peer, type PeerOptions, type Transport } from '../../src/index.js';
import { createLineTransport, createWebSocketTransport, OutputEncoder } from '../../src/node/index.js';
import { connectSockets } from '../support/socket-pair.js';
import { connectPair } from '../support/websocket-pair.js';

const HIGH = 1024 * 1024;
const LOW = 256 * 1024;

interface ConnectedTransports {
  readonly near: Transport;
  readonly far: Transport;
  readonly close: () => Promise<void>;
}

async function overLines(): Promise<ConnectedTransports> {
  const pair = await connectSockets();
  return {
    near: createLineTransport({ input: pair.near, output: pair.near, label: 'near' }),
    far: createLineTransport({ input: pair.far, output: pair.far, label: 'far' }),
    close: () => pair.close(),
  };
}

async function overWebSocket(): Promise<ConnectedTransports> {
  const pair = await connectPair();
  return {
    near: createWebSocketTransport(pair.near, { label: 'near', stream: pair.nearStream }),
    far: createWebSocketTransport(pair.far, { label: 'far', stream: pair.farStream }),
    close: () => pair.close(),
  };
}

let close: () => Promise<void>;
afterEach(() => close());

async function startPeers(
  connect: () => Promise<ConnectedTransports>,
  options: { near?: Partial<PeerOptions>; far?: Partial<PeerOptions> } = {},
): Promise<{ near: Peer; far: Peer }> {
  const transports = await connect();
  close = transports.close;
  const quiet: PeerOptions = { parseErrors: 'answer', onRequest() {}, onNotification() {} };
  return {
    near: new Peer(transports.near, { ...quiet, ...options.near }),
    far: new Peer(transports.far, { ...quiet, ...options.far }),
  };
}

describe.each([
  ['lines over a socket', overLines, 1],
  ['a WebSocket', overWebSocket, 0],
])('peers over %s', (_name, connect, newlineBytes) => {
  test('call each other', async () => {
    const { near, far } = await startPeers(connect, {
      near: { onRequest: ({ id, params }) => near.respond(id, ['near', params]) },
      far: { onRequest: ({ id, params }) => far.respond(id, ['far', params]) },
    });
    const answers = await Promise.all([near.request('m', 1), far.request('m', 2), near.request('m', 'é')]);
    expect(answers).toEqual([
      ['far', 1],
      ['near', 2],
      ['far', 'é'],
    ]);
    far.close();
    expect(await near.closed).toBeUndefined();
    expect(await far.closed).toBeUndefined();
  });

  test.each([
    [HIGH - 1, true],
    [HIGH, false],
    [HIGH + 1, false],
  ])('%i queued bytes: writable is %s', async (bytes, writable) => {
    const { near, far } = await startPeers(connect, { far: { parseErrors: 'close' } });
    far.pause();
    near.sendBytes(Buffer.from(`${' '.repeat(bytes - newlineBytes)}\n`));
    expect(near.bufferedBytes).toBe(bytes);
    expect(near.writable).toBe(writable);
  });

  test('a producer that waits keeps the queue short before a paused reader, and nothing is lost', async () => {
    const chunk = Buffer.alloc(64 * 1024, 0xab);
    const count = 1000;
    let received = 0;
    let allReceived = () => {};
    const done = new Promise<void>((resolve) => {
      allReceived = resolve;
    });
    const { near, far } = await startPeers(connect, {
      far: {
        onNotification({ params }) {
          received += Buffer.from((params as { chunk: string }).chunk, 'base64').length;
          if (received === count * chunk.length) allReceived();
        },
      },
    });
    far.pause();
    const encoder = new OutputEncoder('process/output', 'p');
    const line = encoder.encode(count, 'stdout', chunk).length;
    let longestQueue = 0;
    let waits = 0;
    for (let seq = 1; seq <= count; seq++) {
      if (!near.writable) {
        waits++;
        const waiting = near.whenWritable();
        far.resume();
        await waiting;
        expect(near.bufferedBytes).toBeLessThanOrEqual(LOW);
        far.pause();
      }
      near.sendBytes(encoder.encode(seq, 'stdout', chunk));
      longestQueue = Math.max(longestQueue, near.bufferedBytes);
    }
    far.resume();
    await done;
    expect(longestQueue).toBeGreaterThanOrEqual(HIGH);
    expect(longestQueue).toBeLessThan(HIGH + line);
    expect(waits).toBeGreaterThan(10);
  });

  test('a reader that goes away releases the producer that waits for it', async () => {
    const { near, far } = await startPeers(connect);
    far.pause();
    near.sendBytes(Buffer.from(`${' '.repeat(8 * HIGH)}\n`));
    const waiting = near.whenWritable();
    far.destroy('gone');
    await waiting;
    await near.closed;
    expect(near.bufferedBytes).toBe(0);
  });
});

test('lines carry no binary messages, and sending one is an error of the program', async () => {
  const { near } = await startPeers(overLines);
  expect(near.carriesBinary).toBe(false);
  expect(() => near.sendBinary(Uint8Array.of(1))).toThrow('near carries no binary messages');
});

test.each([
  [HIGH - 1, true],
  [HIGH, false],
  [HIGH + 1, false],
])(
  '%i queued bytes of a binary message: writable is %s, until the other side has read',
  async (bytes, writable) => {
    let take = (_frame: Uint8Array) => {};
    const taken = new Promise<Uint8Array>((resolve) => {
      take = resolve;
    });
    const { near, far } = await startPeers(overWebSocket, { far: { onBinary: (frame) => take(frame) } });
    expect(near.carriesBinary).toBe(true);
    far.pause();
    near.sendBinary(new Uint8Array(bytes).fill(0xff));
    expect([near.bufferedBytes, near.writable]).toEqual([bytes, writable]);
    far.resume();
    await near.whenWritable();
    expect((await taken).length).toBe(bytes);
  },
);
