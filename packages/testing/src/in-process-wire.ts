import { createMemoryTransportPair, type Transport } from '@exec-server/rpc';
import type { ConnectionInfo, ExecServer } from '@exec-server/server';
import { Inbox, isResponseTo, type MessagePredicate, type WireMessage } from './inbox.js';

/** Tells apart the connections of one test run in messages to people. */
let connections = 0;

/** A client without opinions on a server in the same process: no socket, the same messages. */
export class InProcessWire {
  /** Settles when the connection has ended, with the reason unless it ended cleanly. */
  readonly closed: Promise<string | undefined>;
  readonly #transport: Transport;
  readonly #inbox = new Inbox();
  #nextId = 1;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.closed = new Promise((resolve) => {
      transport.open({
        onMessage: (text) => this.#inbox.deliver(JSON.parse(text) as WireMessage),
        onMalformed: (detail) => this.#inbox.end(detail),
        onDrain() {},
        onClose: (reason) => {
          this.#inbox.end(`the connection closed (${reason ?? 'cleanly'})`);
          resolve(reason);
        },
      });
    });
  }

  /** Every message so far, in order of arrival. */
  get received(): readonly WireMessage[] {
    return this.#inbox.received;
  }

  send(message: object): void {
    this.sendRaw(JSON.stringify(message));
  }

  sendRaw(text: string): void {
    this.#transport.send(text);
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

  /** Stops reading, so that the server feels back-pressure. */
  pause(): void {
    this.#transport.pause();
  }

  resume(): void {
    this.#transport.resume();
  }

  /** Ends the connection and waits until the server has seen it. */
  async close(): Promise<void> {
    this.#transport.close();
    await this.closed;
  }
}

/** Connects to a server in this process and leaves the handshake to the test. */
export function openInProcessWire(server: ExecServer, info: Partial<ConnectionInfo> = {}): InProcessWire {
  const [client, accepted] = createMemoryTransportPair('exec-server', `exec-server client ${++connections}`);
  server.accept(accepted, info);
  return new InProcessWire(client);
}
