import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ExecServer } from '@exec-server/server';
import { onTestFinished } from 'vitest';
import { encodeClientFrame } from '../../../rpc/test/support/client-frames.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../listen/tls-fixture.js';

const UPGRADE =
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const TEXT = 0x81;
const BEGINNING = 0x01;
const MIDDLE = 0x00;
const END = 0x80;
const FRAGMENT_BYTES = 100_000;

/** How messages become bytes. */
type Framing = 'frames' | 'fragments' | 'lines';

/** The bytes of a connection, with messages that need not be whole. */
export class RawLink {
  /** Everything that came from the server, once that is all. */
  readonly closed: Promise<string>;
  #received = '';
  #isClosed = false;
  #onChange = () => {};

  constructor(
    private readonly input: Readable,
    private readonly output: Writable,
    private readonly framing: Framing,
  ) {
    for (const stream of [input, output]) stream.on('error', () => {});
    input.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('latin1');
      this.#onChange();
    });
    this.closed = new Promise((resolve) => {
      const close = () => {
        this.#isClosed = true;
        this.destroy();
        this.#onChange();
        resolve(this.#received);
      };
      input.on('end', close);
      input.on('close', close);
    });
    onTestFinished(() => this.destroy());
  }

  /** What has come so far. */
  get received(): string {
    return this.#received;
  }

  destroy(): void {
    this.input.destroy();
    this.output.destroy();
  }

  write(bytes: Uint8Array): void {
    this.output.write(bytes);
  }

  send(text: string): void {
    this.write(this.encode(text));
  }

  /** Sends a message but for its last byte. */
  sendUnfinished(text: string): void {
    this.write(this.encode(text).subarray(0, -1));
  }

  encode(text: string): Buffer {
    const payload = Buffer.from(text);
    if (this.framing === 'lines') return Buffer.from(`${text}\n`);
    if (this.framing === 'frames') return encodeClientFrame({ first: TEXT, payload });
    const count = Math.max(2, Math.ceil(payload.length / FRAGMENT_BYTES));
    const size = Math.ceil(payload.length / count);
    return Buffer.concat(
      Array.from({ length: count }, (_, index) =>
        encodeClientFrame({
          first: index === 0 ? BEGINNING : index === count - 1 ? END : MIDDLE,
          payload: payload.subarray(index * size, (index + 1) * size),
        }),
      ),
    );
  }

  /** Resolves when that text has come. */
  async hears(text: string): Promise<void> {
    while (!this.#received.includes(text)) {
      if (this.#isClosed) throw new Error(`the connection closed before ${text}: ${this.#received}`);
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }
}

async function upgrade(socket: Socket): Promise<Socket> {
  socket.write(UPGRADE);
  await once(socket, 'data');
  return socket;
}

async function openWebSocket(server: ExecServer, framing: Framing): Promise<RawLink> {
  const { url } = await server.listen('ws://127.0.0.1:0');
  const { hostname: host, port } = new URL(url);
  const socket = await upgrade(connect({ host, port: Number(port) }));
  return new RawLink(socket, socket, framing);
}

async function openSecureWebSocket(server: ExecServer, framing: Framing): Promise<RawLink> {
  const tls = { cert: TEST_CERTIFICATE, key: TEST_KEY };
  const { url } = await server.listen('wss://127.0.0.1:0', { tls });
  const { hostname: host, port } = new URL(url);
  const socket = connectTls({ host, port: Number(port), ca: TEST_CERTIFICATE });
  await once(socket, 'secureConnect');
  await upgrade(socket);
  return new RawLink(socket, socket, framing);
}

async function openUnixSocket(server: ExecServer): Promise<RawLink> {
  const directory = mkdtempSync(join(tmpdir(), 'exec-server-raw-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'socket');
  await server.listen(`unix://${path}`);
  const socket = connect(path);
  await once(socket, 'connect');
  return new RawLink(socket, socket, 'lines');
}

async function openStdio(server: ExecServer): Promise<RawLink> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  await server.listen('stdio', { streams: { input, output } });
  return new RawLink(output, input, 'lines');
}

/** A connection of each kind that carries bytes, with a listener of its own. */
export const RAW_LINKS: Readonly<Record<string, (server: ExecServer) => Promise<RawLink>>> = {
  'a WebSocket': (server) => openWebSocket(server, 'frames'),
  'a WebSocket, in fragments': (server) => openWebSocket(server, 'fragments'),
  'a WebSocket with TLS': (server) => openSecureWebSocket(server, 'frames'),
  'a WebSocket with TLS, in fragments': (server) => openSecureWebSocket(server, 'fragments'),
  'a Unix socket': openUnixSocket,
  stdio: openStdio,
};
