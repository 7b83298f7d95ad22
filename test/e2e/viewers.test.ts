import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openSession, serve, startParams } from './session.js';

const VIEWERS = 20;
const SLEEPERS = 2;
const BYTES = 100 * 1024 * 1024;

/** Counts the output of one process without decoding it, and may sleep for a while. */
class Counter {
  bytes = 0;
  /** Events that were told or reported as missing, which have to be contiguous. */
  lastSeq = 0;
  missing = 0;
  readonly closed: Promise<void>;
  readonly #onClosed: () => void;

  constructor(readonly socket: WebSocket) {
    let onClosed = () => {};
    this.closed = new Promise((resolve) => {
      onClosed = resolve;
    });
    this.#onClosed = onClosed;
    socket.on('message', (data: Buffer) => this.#count(data));
  }

  #count(data: Buffer): void {
    const head = data.toString('latin1', 0, 300);
    const [, method] = /^\{"method":"process\/(\w+)"/.exec(head) ?? [];
    if (method === undefined) return;
    if (method === 'lagged') {
      const { params } = JSON.parse(data.toString()) as { params: { fromSeq: number; toSeq: number } };
      this.#follow(params.fromSeq, params.toSeq);
      this.missing += params.toSeq - params.fromSeq + 1;
      return;
    }
    const seq = Number(/"seq":(\d+)/.exec(head)?.[1]);
    this.#follow(seq, seq);
    if (method === 'output') this.bytes += countBase64(data, head.indexOf('"chunk":"') + '"chunk":"'.length);
    if (method === 'closed') this.#onClosed();
  }

  #follow(fromSeq: number, toSeq: number): void {
    if (fromSeq !== this.lastSeq + 1) throw new Error(`event ${fromSeq} follows ${this.lastSeq}`);
    this.lastSeq = toSeq;
  }
}

/** Decoded length of the base64 text that ends three bytes before the end of the message. */
function countBase64(data: Buffer, start: number): number {
  const end = data.length - 3;
  const padding = data[end - 2] === 0x3d ? 2 : data[end - 1] === 0x3d ? 1 : 0;
  return ((end - start) / 4) * 3 - padding;
}

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send(JSON.stringify({ id: 1, method: 'initialize', params: { clientName: 'viewer' } }));
  await new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ method: 'initialized' }));
  return socket;
}

it(`${VIEWERS} viewers of 100 MB, ${SLEEPERS} of them asleep: the others get every byte, the sleepers exact gaps`, async () => {
  const server = await serve();
  const { wire: owner, sessionId } = await openSession(server.url);
  await owner.request('process/start', startParams('p', ['/bin/sh', '-c', `read x; head -c ${BYTES} /dev/zero`], { pipeStdin: true }));
  const counters = await Promise.all(
    Array.from({ length: VIEWERS }, async () => {
      const socket = await connect(server.url);
      const attached = new Promise((resolve) => socket.once('message', resolve));
      socket.send(JSON.stringify({ id: 2, method: 'process/attach', params: { processId: 'p', sessionId } }));
      await attached;
      return new Counter(socket);
    }),
  );
  const sleepers = counters.slice(0, SLEEPERS);
  const awake = counters.slice(SLEEPERS);
  for (const { socket } of sleepers) socket.pause();
  await owner.request('process/write', { processId: 'p', chunk: btoa('\n'), writeId: '1' });
  await Promise.all(awake.map(({ closed }) => closed));
  const { result } = await owner.request('process/wait', { processId: 'p' });
  expect(result).toMatchObject({ running: false, exitCode: 0 });
  for (const { bytes, missing } of awake) expect({ bytes, missing }).toEqual({ bytes: BYTES, missing: 0 });
  const lastSeq = awake[0]?.lastSeq;
  for (const { socket } of sleepers) socket.resume();
  await Promise.all(sleepers.map(({ closed }) => closed));
  for (const sleeper of sleepers) {
    expect(sleeper.lastSeq).toBe(lastSeq);
    expect(sleeper.missing).toBeGreaterThan(0);
    expect(sleeper.bytes).toBeLessThan(BYTES);
  }
  for (const { socket } of counters) socket.terminate();
});
