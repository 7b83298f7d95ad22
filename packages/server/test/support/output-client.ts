import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { decodeOutputFrame, type OutputFrame } from '@exec-server/protocol';
import { createMemoryTransportPair, type Transport, type TransportHandlers } from '@exec-server/rpc';
import { connectWebSocket, createLineTransport, createWebSocketTransport } from '@exec-server/rpc/node';
import type { ExecServer } from '@exec-server/server';
import { Inbox, isResponseTo, type WireMessage } from '@exec-server/testing';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

/** An event of a process in whichever form it came. */
export interface SeenEvent {
  readonly form: 'json' | 'binary' | 'object';
  readonly kind: string;
  readonly processId: string;
  readonly sessionId: string | undefined;
  readonly seq: number;
  readonly stream?: string | undefined;
  readonly data?: Buffer | undefined;
}

/** A client without opinions that takes output in both forms and keeps all events in order of arrival. */
export class OutputClient implements TransportHandlers {
  readonly events: SeenEvent[] = [];
  /** Called with every event. */
  onEvent: (event: SeenEvent) => void = () => {};
  readonly #inbox = new Inbox();
  #nextId = 1;

  constructor(readonly transport: Transport) {
    transport.open(this);
    onTestFinished(() => transport.destroy('the test is over'));
  }

  onMessage(text: string): void {
    const message = JSON.parse(text) as WireMessage;
    const { method, params } = message;
    if (method?.startsWith('process/')) {
      const { chunk, ...rest } = params as unknown as Omit<SeenEvent, 'form' | 'kind'> & { chunk?: string };
      const data = chunk === undefined ? undefined : Buffer.from(chunk, 'base64');
      this.see({ ...rest, form: 'json', kind: method, data });
    }
    this.#inbox.deliver(message);
  }

  onBinary(frame: Uint8Array): void {
    const { data, sessionId, ...rest } = decodeOutputFrame(frame);
    this.see({ form: 'binary', kind: 'process/output', sessionId, ...rest, data: Buffer.from(data) });
  }

  onMalformed(detail: string): void {
    this.#inbox.end(detail);
  }

  onDrain(): void {}

  onClose(reason: string | undefined): void {
    this.#inbox.end(`the connection closed (${reason ?? 'cleanly'})`);
  }

  send(message: object): void {
    this.transport.send(JSON.stringify(message));
  }

  async request(method: string, params: object): Promise<WireMessage> {
    const id = this.#nextId++;
    this.send({ id, method, params });
    return this.#inbox.next(isResponseTo(id), `the response to ${method}`);
  }

  /** The answer to `initialize`; the handshake is completed when it was accepted. */
  async initialize(params: object = {}): Promise<WireMessage> {
    const answer = await this.request('initialize', { clientName: 'test', ...params });
    if (answer.result !== undefined) this.send({ method: 'initialized' });
    return answer;
  }

  async untilClosed(processId: string): Promise<SeenEvent[]> {
    await this.#inbox.next(
      ({ method, params }) => method === 'process/closed' && params?.processId === processId,
      `process/closed of ${processId}`,
    );
    return this.events.filter((event) => event.processId === processId);
  }

  /** Resolves once an event fits, seen or yet to come. */
  async until(fits: (event: SeenEvent) => boolean): Promise<SeenEvent> {
    const seen = this.events.find(fits);
    if (seen !== undefined) return seen;
    return new Promise((resolve) => {
      const before = this.onEvent;
      this.onEvent = (event) => {
        before(event);
        if (fits(event)) resolve(event);
      };
    });
  }

  protected see(event: SeenEvent): void {
    this.events.push(event);
    this.onEvent(event);
  }
}

/** Takes objects, too. */
class ObjectClient extends OutputClient {
  onObject(message: object): void {
    const { data, sessionId, ...rest } = message as OutputFrame;
    this.see({ form: 'object', kind: 'process/output', sessionId, ...rest, data: data as Buffer });
  }
}

/** Bytes of one stream, joined. */
export function bytesOf(events: readonly SeenEvent[], stream: string): Buffer {
  return Buffer.concat(
    events.flatMap((event) => (event.stream === stream && event.data ? [event.data] : [])),
  );
}

/** How the output among the events came: one form, both, or none. */
export function formsOf(events: readonly SeenEvent[]): string[] {
  return [...new Set(events.filter(({ kind }) => kind === 'process/output').map(({ form }) => form))];
}

/** A client, and the server's end of its connection. */
export interface ConnectedClient {
  readonly client: OutputClient;
  readonly serverSide: Transport;
}

export async function connectInMemory(server: ExecServer): Promise<ConnectedClient> {
  const [near, serverSide] = createMemoryTransportPair();
  server.accept(serverSide);
  return { client: new OutputClient(near), serverSide };
}

/** As an embedding program does, which is handed output as objects. */
export async function connectInProcess(server: ExecServer): Promise<ConnectedClient> {
  const [near, serverSide] = createMemoryTransportPair();
  server.accept(serverSide);
  return { client: new ObjectClient(near), serverSide };
}

/** Over a real WebSocket, which the server is handed directly so that the test can see its queue. */
export async function connectOverWebSocket(server: ExecServer): Promise<ConnectedClient> {
  const listener = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => listener.close());
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const accepted = once(listener, 'connection') as Promise<[WebSocket, IncomingMessage]>;
  const client = new OutputClient(await connectWebSocket(`ws://127.0.0.1:${port}`));
  const [socket, { socket: stream }] = await accepted;
  const serverSide = createWebSocketTransport(socket, {
    label: 'exec-server websocket test',
    stream,
    role: 'server',
  });
  server.accept(serverSide);
  return { client, serverSide };
}

/** Over lines, which cannot carry binary messages. */
export async function connectOverLines(server: ExecServer): Promise<ConnectedClient> {
  const [up, down] = [new PassThrough(), new PassThrough()];
  const near = createLineTransport({ input: down, output: up, label: 'exec-server' });
  const serverSide = createLineTransport({ input: up, output: down, label: 'exec-server client' });
  server.accept(serverSide);
  return { client: new OutputClient(near), serverSide };
}
