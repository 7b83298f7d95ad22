import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { before } from '@exec-server/testing';
import { onTestFinished } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../listen/tls-fixture.js';

/** Answers one request, given its bytes as text, on the connection that it came on. */
export type Answer = (request: string, socket: Socket) => void;

export interface OriginOptions {
  /** Speak TLS with the certificate of the tests. Default: false. */
  readonly tls?: boolean;
}

/** A server that sees the bytes of each request and writes the bytes of each response itself. */
export class Origin {
  /** Every request so far, head and body. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiters: (() => void)[] = [];
  #accepted = 0;

  constructor(server: Server, event: 'connection' | 'secureConnection', answer: Answer) {
    this.#server = server;
    server.on(event, (socket: Socket) => {
      this.#accepted++;
      this.#sockets.add(socket);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#news();
      });
      socket.on('error', () => {});
      let received = '';
      socket.on('data', (data) => {
        received += data.toString('latin1');
        const length = requestLength(received);
        if (length === undefined || received.length < length) return;
        const request = received;
        received = '';
        this.requests.push(request);
        this.#news();
        answer(request, socket);
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  url(path = '/'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Waits until so many requests have come. */
  async untilAsked(count: number): Promise<void> {
    await this.#until(() => this.requests.length >= count, `${count} requests`);
  }

  /** Waits until the other side has ended all connections. */
  async untilAlone(): Promise<void> {
    await this.#until(() => this.#sockets.size === 0, 'the end of all connections');
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #until(holds: () => boolean, what: string): Promise<void> {
    while (!holds()) {
      const news = new Promise<void>((resolve) => this.#waiters.push(resolve));
      await before(news, () => new Error(`the origin waited for ${what}`));
    }
  }

  #news(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

/** Starts an origin that ends with the test. */
export async function startOrigin(answer: Answer, { tls = false }: OriginOptions = {}): Promise<Origin> {
  const server = tls ? createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }) : createServer();
  const origin = new Origin(server, tls ? 'secureConnection' : 'connection', answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => origin.close());
  return origin;
}

/** A response with a length. `head` is further header lines, each with its line end. */
export function respond(socket: Socket, body = 'ok', head = '', status = '200 OK'): void {
  socket.write(
    Buffer.from(
      `HTTP/1.1 ${status}\r\n${head}content-length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`,
      'latin1',
    ),
  );
}

export function redirect(socket: Socket, status: number, location: string): void {
  respond(socket, '', `location: ${location}\r\n`, `${status} Elsewhere`);
}

/** The path in the first line of a request. */
export function pathOf(request: string): string {
  return request.split(' ', 2)[1] ?? '';
}

/** The length of head and body, once the head is there. */
function requestLength(received: string): number | undefined {
  const head = received.indexOf('\r\n\r\n') + 4;
  if (head < 4) return undefined;
  if (/^transfer-encoding: chunked$/im.test(received.slice(0, head)))
    return received.endsWith('0\r\n\r\n') ? received.length : undefined;
  return head + Number(/^content-length: (\d+)$/im.exec(received)?.[1] ?? 0);
}
