import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { before } from './deadline.js';
import { Inbox, isResponseTo, type MessagePredicate, type WireMessage } from './inbox.js';

export interface WireOptions {
  /** Extra request headers of the upgrade. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The `Origin` header. Default: none, as programs send it. */
  readonly origin?: string;
  /** Subprotocols to offer. Default: none. */
  readonly protocols?: readonly string[];
  /** Accept a certificate nobody signed, for `wss`. Default: false. */
  readonly insecure?: boolean;
}

export interface WireClosed {
  readonly code: number;
  readonly reason: string;
}

/** The server answered the upgrade with something else than 101. */
export class UpgradeRefused extends Error {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;

  constructor(response: IncomingMessage, body: string) {
    super(`upgrade refused with ${response.statusCode}: ${body}`);
    this.name = 'UpgradeRefused';
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.body = body;
  }
}

/** A WebSocket client without opinions: sends what it is told, records what it gets. */
export class Wire implements Disposable {
  /** Settles with the close frame's code and reason; 1006 when the connection went without one. */
  readonly closed: Promise<WireClosed>;
  readonly #socket: WebSocket;
  readonly #inbox = new Inbox();
  #nextId = 1;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#inbox.deliver(JSON.parse(data.toString()) as WireMessage);
    });
    // A reset shows as close code 1006, which is what tests look at.
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        const closed = { code, reason: reason.toString() };
        this.#inbox.end(`the connection closed (${closed.code} ${closed.reason})`);
        resolve(closed);
      });
    });
  }

  /** Every message so far, in order of arrival. */
  get received(): readonly WireMessage[] {
    return this.#inbox.received;
  }

  /** The messages that neither `next` nor `request` has taken. */
  get unread(): readonly WireMessage[] {
    return this.#inbox.unread;
  }

  /** Bytes handed to `send` that the network has not taken yet. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: object): void {
    this.sendRaw(JSON.stringify(message));
  }

  /** Sends text as a text frame and bytes as a binary one. */
  sendRaw(data: string | Buffer): void {
    this.#socket.send(data);
  }

  /** Sends a request with the next free id and waits for its response, success or error. */
  async request(method: string, params?: unknown, deadlineMs?: number): Promise<WireMessage> {
    const id = this.#nextId++;
    this.send(params === undefined ? { id, method } : { id, method, params });
    return this.#inbox.next(isResponseTo(id), `the response to ${method} (id ${id})`, deadlineMs);
  }

  /** See {@link Inbox.next}. */
  next(predicate: MessagePredicate, what: string, deadlineMs?: number): Promise<WireMessage> {
    return this.#inbox.next(predicate, what, deadlineMs);
  }

  /** See {@link Inbox.takeUnread}. */
  takeUnread(predicate: MessagePredicate): WireMessage[] {
    return this.#inbox.takeUnread(predicate);
  }

  /** Stops reading the socket, so that the server feels back-pressure. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes with a close frame and waits until the connection has gone. */
  async close(code = 1000): Promise<WireClosed> {
    this.#socket.close(code);
    return this.closed;
  }

  /** Drops the connection without a close frame. */
  terminate(): void {
    this.#socket.terminate();
  }

  [Symbol.dispose](): void {
    this.terminate();
  }
}

/** Opens a connection; rejects with {@link UpgradeRefused} when the server answers with plain HTTP. */
export async function openWire(url: string, options: WireOptions = {}): Promise<Wire> {
  const socket = new WebSocket(url, [...(options.protocols ?? [])], {
    perMessageDeflate: false,
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    ...(options.origin === undefined ? {} : { origin: options.origin }),
    ...(options.insecure === true ? { rejectUnauthorized: false } : {}),
  });
  const refused = new Promise<never>((_, reject) => {
    socket.once('unexpected-response', (_request, response) => {
      text(response).then((body) => reject(new UpgradeRefused(response, body)), reject);
    });
  });
  // Before `open` is told, so that a message in the same packet as the upgrade is not missed.
  const wire = new Wire(socket);
  await before(Promise.race([once(socket, 'open'), refused]), () => {
    socket.terminate();
    return new Error(`${url} did not answer the upgrade`);
  });
  return wire;
}
