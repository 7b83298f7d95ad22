import { createExecServer } from '@exec-server/server';
import { expect, onTestFinished, test } from 'vitest';
import { createInProcessDialer } from '../../src/dial/in-process-dialer.js';
import type { ProcessOutput } from '../../src/notification-hub.js';
import { WireClient } from '../../src/wire-client.js';

const never = new AbortController().signal;

function openServer() {
  const server = createExecServer();
  onTestFinished(() => server.close());
  return server;
}

test('output comes as the server keeps it, in order with the notifications', async () => {
  const server = openServer();
  const dialer = createInProcessDialer(server);
  const client = await WireClient.connect(await dialer.dial(never), {
    clientName: 'test',
    binaryOutput: true,
  });
  const seqs: number[] = [];
  const outputs: ProcessOutput[] = [];
  client.onOutput((output) => {
    seqs.push(output.seq);
    outputs.push(output);
  });
  client.on('process/exited', ({ seq }) => seqs.push(seq));
  const closed = new Promise<void>((resolve) => {
    client.on('process/closed', ({ seq }) => {
      seqs.push(seq);
      resolve();
    });
  });
  let notifications = 0;
  client.on('process/output', () => notifications++);
  await client.call('process/start', {
    processId: 'p',
    argv: ['/usr/bin/seq', '200000'],
    cwd: 'file:///tmp',
    env: {},
    tty: false,
  });
  await closed;
  const lines = Buffer.concat(outputs.map(({ data }) => data)).toString();
  expect(lines).toBe(Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(''));
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  // Neither JSON nor a frame: what arrives is the buffer that the log of the server holds.
  expect(notifications).toBe(0);
  expect(outputs.every(({ data }) => Buffer.isBuffer(data))).toBe(true);
  const { chunks } = await client.call('process/read', { processId: 'p', afterSeq: 0 });
  expect(chunks.length).toBeGreaterThan(0);
  client.close();
});

test('a server that is closing refuses', async () => {
  const server = openServer();
  await server.close();
  const transport = await createInProcessDialer(server).dial(never);
  await expect(WireClient.connect(transport, { clientName: 'test' })).rejects.toThrow(
    'exec-server transport disconnected: the server is closing',
  );
});

test('nothing is made for a signal that has gone off', async () => {
  const reason = new Error('enough');
  const dialer = createInProcessDialer({
    accept() {
      throw new Error('nobody should come');
    },
  });
  await expect(dialer.dial(AbortSignal.abort(reason))).rejects.toBe(reason);
});
