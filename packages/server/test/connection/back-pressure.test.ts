import { createMemoryTransportPair, type Transport, type TransportHandlers } from '@exec-server/rpc';
import { fixture, openInProcessWire, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openServer, openSession, readToEnd, startParams, untilClosed } from '../support/session.js';

const MEBIBYTE = 1024 * 1024;
/** One chunk of 64 KiB in base64 with its envelope. */
const LARGEST_FRAME = 90_000;

/** A client that counts output instead of keeping it, and may stop reading. */
class Counter implements TransportHandlers {
  bytes = 0;
  readonly seqs: number[] = [];
  readonly closed: Promise<void>;
  /** The most that was ever queued towards this client. */
  mostQueued = 0;
  #onClosed!: () => void;

  constructor(
    private readonly transport: Transport,
    private readonly serverSide: Transport,
    /** Called after every `pauseEvery` bytes. */
    private readonly pauseEvery: number,
  ) {
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
  }

  onMessage(text: string): void {
    this.mostQueued = Math.max(this.mostQueued, this.serverSide.bufferedBytes);
    const { method, params } = JSON.parse(text) as {
      method?: string;
      params?: { seq: number; chunk?: string };
    };
    if (method === undefined || params === undefined) return;
    this.seqs.push(params.seq);
    if (method === 'process/closed') this.#onClosed();
    if (params.chunk === undefined) return;
    const before = Math.floor(this.bytes / this.pauseEvery);
    this.bytes += Buffer.byteLength(params.chunk, 'base64');
    if (Math.floor(this.bytes / this.pauseEvery) > before) this.#pauseUntilFull();
  }

  onMalformed(): void {}
  onDrain(): void {}
  onClose(): void {}

  /** Reads nothing until something is queued and the queue has stopped growing. */
  #pauseUntilFull(): void {
    this.transport.pause();
    let last = 0;
    const look = () => {
      const queued = this.serverSide.bufferedBytes;
      this.mostQueued = Math.max(this.mostQueued, queued);
      if (queued > 0 && queued === last) return this.transport.resume();
      last = queued;
      setTimeout(look, 20);
    };
    look();
  }
}

it('200 MB through a client that pauses: every byte arrives, and the queue keeps its bound', async () => {
  const server = openServer();
  const [client, serverSide] = createMemoryTransportPair();
  server.accept(serverSide);
  const counter = new Counter(client, serverSide, 20 * MEBIBYTE);
  client.open(counter);
  client.send(JSON.stringify({ id: 1, method: 'initialize', params: { clientName: 'test' } }));
  client.send(JSON.stringify({ method: 'initialized' }));
  const params = startParams('p', ['/usr/bin/head', '-c', String(200 * MEBIBYTE), '/dev/zero']);
  client.send(JSON.stringify({ id: 2, method: 'process/start', params }));
  await counter.closed;
  expect(counter.bytes).toBe(200 * MEBIBYTE);
  expect(counter.seqs).toEqual(Array.from(counter.seqs, (_, index) => index + 1));
  expect(counter.mostQueued).toBeGreaterThan(0);
  expect(counter.mostQueued).toBeLessThanOrEqual(MEBIBYTE + LARGEST_FRAME);
});

describe('a client that stops reading', () => {
  it('holds its process back, and terminate still works', async () => {
    const wire = await openSession(openServer());
    wire.pause();
    wire.send({ id: 'start', method: 'process/start', params: startParams('p', [fixture('flood')]) });
    wire.send({ id: 'kill', method: 'process/terminate', params: { processId: 'p' } });
    wire.resume();
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });

  it('does not hold back another connection', async () => {
    const server = openServer();
    const [slow, quick] = [await openSession(server), await openSession(server)];
    slow.pause();
    slow.send({ id: 'start', method: 'process/start', params: startParams('p', [fixture('flood')]) });
    await quick.request('process/start', startParams('q', ['/bin/echo', 'quick']));
    expect((await untilClosed(quick, 'q')).stdout.toString()).toBe('quick\n');
    slow.resume();
    slow.send({ id: 'kill', method: 'process/terminate', params: { processId: 'p' } });
    await untilClosed(slow, 'p');
  });

  it('and disconnects lets its process run on', async () => {
    const server = openServer();
    const first = await openSession(server);
    first.pause();
    const params = startParams('p', ['/bin/sh', '-c', 'head -c 8000000 /dev/zero; echo $$']);
    first.send({ id: 'start', method: 'process/start', params });
    await first.close();
    const second = await openSession(server, first.sessionId);
    const { chunks } = await readToEnd(second, 'p');
    const [, pid] = /(\d+)\n$/.exec(Buffer.concat(chunks).toString('latin1')) ?? [];
    await waitForProcessGone(Number(pid));
  });
});

it.each([true, false])(
  'what still waits for its turn when the client goes is not done (resumable: %s)',
  async (resumable) => {
    const started: unknown[] = [];
    const auditLog = { record: (entry: { event: string }) => void started.push(entry.event) };
    const server = openServer({ auditLog, outboundHighWaterBytes: 2, outboundLowWaterBytes: 1 });
    const wire = openInProcessWire(server, { resumable });
    await wire.request('initialize', { clientName: 'test' });
    wire.send({ method: 'initialized' });
    wire.pause();
    // An answer that is not read, and the next request has to wait.
    wire.send({ id: 'status', method: 'environment/status' });
    await new Promise((resolve) => setImmediate(resolve));
    wire.send({ id: 'start', method: 'process/start', params: startParams('p', ['/bin/sleep', '300']) });
    await wire.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toEqual([]);
  },
);

it('a client that asks on without reading the answers is read from no more', async () => {
  const limits = { pendingRequests: 10, outboundHighWaterBytes: 1_000, outboundLowWaterBytes: 500 };
  const server = openServer(limits);
  const [client, serverSide] = createMemoryTransportPair();
  server.accept(serverSide);
  let answers = 0;
  client.open({ onMessage: () => void answers++, onMalformed() {}, onDrain() {}, onClose() {} });
  client.send(JSON.stringify({ id: 0, method: 'initialize', params: { clientName: 'test' } }));
  client.send(JSON.stringify({ method: 'initialized' }));
  client.pause();
  for (let id = 1; id <= 200; id++) client.send(JSON.stringify({ id, method: 'environment/status' }));
  await new Promise((resolve) => setImmediate(resolve));
  // Most of the questions still wait on the client's side, and few answers on the server's.
  expect(client.bufferedBytes).toBeGreaterThan(0);
  expect(serverSide.bufferedBytes).toBeLessThan(5_000);
  client.resume();
  while (answers < 201) await new Promise((resolve) => setImmediate(resolve));
});
