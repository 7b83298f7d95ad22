import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createLineTransport } from '@exec-server/rpc/node';
import { waitForProcessGone } from '@exec-server/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createStdioDialer } from '../src/node/stdio-dialer.js';
import { WireClient, type WireClientOptions } from '../src/wire-client.js';
import { ManualClock } from './support/manual-clock.js';

const INTERVAL_MS = 4_000;
const SILENCE = 'no byte came from the server for 12 seconds, although it was asked for a sign of life';

interface Request {
  readonly id?: number;
  readonly method: string;
}

/** A connection to a server that answers `initialize` as told, and the rest as `answers` does. */
async function connect(
  answers: (request: Request, socket: Socket) => void,
  { capabilities = {}, ...options }: Partial<WireClientOptions> & { readonly capabilities?: object } = {},
) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    createInterface({ input: socket }).on('line', (line) => {
      const request = JSON.parse(line) as Request;
      seen.push(request.method);
      if (request.method !== 'initialize') return answers(request, socket);
      const environmentInfo = { shell: { name: 'sh', path: '/bin/sh' }, capabilities };
      socket.write(`${JSON.stringify({ id: request.id, result: { sessionId: 's', environmentInfo } })}\n`);
    });
  });
  const seen: string[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
  const transport = createLineTransport({ input: socket, output: socket, label: 'exec-server test' });
  const clock = new ManualClock();
  const client = await WireClient.connect(transport, { clientName: 'test', clock, ...options });
  // What the handshake ended with leaves after this turn of the loop.
  await new Promise((resolve) => setImmediate(resolve));
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  return { client, clock, seen };
}

/** Has intervals pass, and what is sent in each of them leave. */
async function passIntervals(clock: ManualClock, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    clock.advance(INTERVAL_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a server that no longer answers ends the connection, and calls with it', async () => {
  const { client, clock } = await connect(() => {});
  await passIntervals(clock, 4);
  expect(await client.closed).toBe(SILENCE);
  await expect(client.call('environment/info', null)).rejects.toThrow(SILENCE);
});

test('the answer that a method is not known is a sign of life', async () => {
  const { client, clock, seen } = await connect(({ id }, socket) => {
    if (id !== undefined) socket.write(`${JSON.stringify({ id, error: { code: -32601, message: 'no' } })}\n`);
  });
  for (let round = 1; round <= 5; round++) {
    clock.advance(INTERVAL_MS);
    await vi.waitUntil(() => seen.filter((method) => method === 'environment/status').length === round);
    // Answered after the question, so that the answer to that has come by then.
    await expect(client.call('fs/readFile', { path: 'file:///x' })).rejects.toThrow('no');
    clock.advance(INTERVAL_MS);
  }
  expect(client.isClosed).toBe(false);
});

describe('a long poll that takes its time', () => {
  test('is left in peace on a server that handles one call after the other, also once it is given up', async () => {
    const { client, clock, seen } = await connect(() => {});
    const impatient = new AbortController();
    const poll = client.call(
      'process/read',
      { processId: 'p', waitMs: 60_000 },
      { signal: impatient.signal },
    );
    await passIntervals(clock, 8);
    impatient.abort(new Error('enough'));
    await expect(poll).rejects.toThrow('enough');
    await passIntervals(clock, 8);
    expect(client.isClosed).toBe(false);
    expect(seen).not.toContain('environment/status');
  });

  test('does not hide a dead connection to a server that answers at once', async () => {
    const { client, clock } = await connect(() => {}, { capabilities: { promptStatus: true } });
    const poll = client.call('process/read', { processId: 'p', waitMs: 60_000 });
    await Promise.all([passIntervals(clock, 4), expect(poll).rejects.toThrow(SILENCE)]);
  });
});

test('a client that does not read waits for nothing', async () => {
  const { client, clock, seen } = await connect(() => {});
  client.pause();
  await passIntervals(clock, 8);
  expect([client.isClosed, seen.includes('environment/status')]).toEqual([false, false]);
  client.resume();
  await passIntervals(clock, 4);
  expect(await client.closed).toBe(SILENCE);
});

test('`false` watches nothing', async () => {
  const { client, clock, seen } = await connect(() => {}, { keepAlive: false });
  await passIntervals(clock, 20);
  expect([client.isClosed, seen.includes('environment/status')]).toEqual([false, false]);
});

test('a server over stdio that hangs is ended', async () => {
  let tellPid = (_pid: number) => {};
  const pid = new Promise<number>((resolve) => {
    tellPid = resolve;
  });
  const script = `echo $$ >&2; read line; echo '{"id":1,"result":{"sessionId":"s"}}'; exec sleep 600`;
  const dialer = createStdioDialer(
    { command: ['/bin/sh', '-c', script], stderr: (text) => tellPid(Number(text)) },
    {},
  );
  onTestFinished(() => dialer.close());
  const clock = new ManualClock();
  const transport = await dialer.dial(new AbortController().signal);
  const client = await WireClient.connect(transport, { clientName: 'test', clock });
  await passIntervals(clock, 4);
  expect(await client.closed).toBe(SILENCE);
  await waitForProcessGone(await pid);
});
