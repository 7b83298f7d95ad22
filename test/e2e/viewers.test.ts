import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WireClient } from '@exec-server/client';
import { connectUnixSocket } from '@exec-server/rpc/node';
import { expect, it } from 'vitest';
import { serve } from './session.js';

const VIEWERS = 20;
const SLEEPERS = 2;
const MEBIBYTES = 100;
const MEBIBYTE = 1024 * 1024;
const BYTES = MEBIBYTES * MEBIBYTE;
/** What the process may be ahead of the slowest viewer that is awake, in bytes: well below what is queued for one. */
const AHEAD_BYTES = 8 * MEBIBYTE;

/** Counts the output of one process without decoding it, and may sleep for a while. */
class Counter {
  bytes = 0;
  /** Events that were told or reported as missing, which have to be contiguous. */
  lastSeq = 0;
  missing = 0;
  readonly closed: Promise<void>;
  readonly attached: Promise<void>;
  /** Called when there is more. */
  onProgress = () => {};
  #onClosed = () => {};
  #onAttached = () => {};
  #partial: Buffer[] = [];

  constructor(readonly socket: Socket) {
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    this.attached = new Promise((resolve) => {
      this.#onAttached = resolve;
    });
    socket.on('data', (data) => this.#receive(data as Buffer));
  }

  #receive(data: Buffer): void {
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      this.#count(Buffer.concat([...this.#partial, data.subarray(start, end)]));
      this.#partial = [];
      start = end + 1;
    }
    this.#partial.push(data.subarray(start));
    this.onProgress();
  }

  #count(data: Buffer): void {
    const head = data.toString('latin1', 0, 300);
    if (head.startsWith('{"id":2,')) this.#onAttached();
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

/** A connection over a Unix socket that attaches to the process `p` of a session. */
async function view(path: string, sessionId: string): Promise<Counter> {
  const socket = connect(path);
  await once(socket, 'connect');
  const counter = new Counter(socket);
  const send = (message: object) => socket.write(`${JSON.stringify(message)}\n`);
  send({ id: 1, method: 'initialize', params: { clientName: 'viewer' } });
  send({ method: 'initialized' });
  send({ id: 2, method: 'process/attach', params: { processId: 'p', sessionId } });
  await counter.attached;
  return counter;
}

it(`${VIEWERS} viewers of 100 MB, ${SLEEPERS} of them asleep: the others get every byte, the sleepers exact gaps`, async () => {
  // Nobody waits for a viewer, so that one which is too slow for the owner's pace misses something, as the sleepers do. The
  // process therefore writes a mebibyte for each line that it reads, and gets these as those who are awake keep up.
  const path = join(mkdtempSync(join(tmpdir(), 'exec-server-viewers-')), 'socket');
  await serve('--listen', `unix://${path}`);
  const owner = await WireClient.connect(await connectUnixSocket(path), { clientName: 'owner' });
  const { sessionId } = owner;
  await owner.call('process/start', {
    processId: 'p',
    argv: ['/bin/sh', '-c', `for i in $(seq ${MEBIBYTES}); do read x; head -c ${MEBIBYTE} /dev/zero; done`],
    cwd: 'file:///tmp',
    env: { PATH: '/usr/bin:/bin' },
    tty: false,
    pipeStdin: true,
  });
  const counters = await Promise.all(Array.from({ length: VIEWERS }, () => view(path, sessionId)));
  const sleepers = counters.slice(0, SLEEPERS);
  const awake = counters.slice(SLEEPERS);
  for (const { socket } of sleepers) socket.pause();
  let granted = 0;
  const grant = () => {
    const slowest = Math.min(...awake.map(({ bytes }) => bytes));
    const next = Math.min(MEBIBYTES, Math.floor((slowest + AHEAD_BYTES) / MEBIBYTE));
    if (next <= granted) return;
    const chunk = btoa('\n'.repeat(next - granted));
    granted = next;
    void owner.call('process/write', { processId: 'p', chunk, writeId: `${next}` });
  };
  for (const counter of awake) counter.onProgress = grant;
  grant();
  await Promise.all(awake.map(({ closed }) => closed));
  expect(await owner.call('process/wait', { processId: 'p' })).toMatchObject({ running: false, exitCode: 0 });
  for (const { bytes, missing } of awake) expect({ bytes, missing }).toEqual({ bytes: BYTES, missing: 0 });
  const lastSeq = awake[0]?.lastSeq;
  for (const { socket } of sleepers) socket.resume();
  await Promise.all(sleepers.map(({ closed }) => closed));
  for (const sleeper of sleepers) {
    expect(sleeper.lastSeq).toBe(lastSeq);
    expect(sleeper.missing).toBeGreaterThan(0);
    expect(sleeper.bytes).toBeLessThan(BYTES);
  }
  for (const { socket } of counters) socket.destroy();
  owner.close();
});
