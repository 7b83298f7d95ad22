import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openInProcessWire, openWire, UpgradeRefused } from '@exec-server/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openServer, openSession } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const LIMIT = 2;
const REASON = `the server has its limit of ${LIMIT} connections`;

it('the limit of connections is reached with the last that fits, and frees its place with each that goes', async () => {
  const server = openServer({ maxConnections: LIMIT });
  const [first, second] = [await openSession(server), await openSession(server)];
  const refused = openInProcessWire(server);
  expect(await refused.next(() => true, 'the refusal')).toMatchObject({
    id: -1,
    error: { code: -32001, message: REASON },
  });
  await refused.closed;
  await first.close();
  const third = await openSession(server);
  expect((await third.request('environment/status')).result).toBeDefined();
  expect((await second.request('environment/status')).result).toBeDefined();
});

it('over WebSockets the refusal is an HTTP answer, which a client takes for a passing one', async () => {
  const server = openServer({ maxConnections: LIMIT });
  const { url } = await server.listen('ws://127.0.0.1:0');
  const wires = [await openWire(url), await openWire(url)];
  onTestFinished(() => {
    for (const wire of wires) wire.terminate();
  });
  const refusal = await openWire(url).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UpgradeRefused);
  expect(refusal).toMatchObject({ status: 503, body: REASON });
  await wires[0]?.close();
  // The close frame is answered before the server has let go of the connection.
  const next = await vi.waitFor(() => openWire(url));
  expect((await next.request('initialize', { clientName: 'test' })).result).toBeDefined();
  next.terminate();
});

it('over a Unix socket it is a line, and the end', async () => {
  const server = openServer({ maxConnections: 1 });
  const path = join(await makeTempDirectory(), 'socket');
  await server.listen(`unix://${path}`);
  const first = connect(path);
  await once(first, 'connect');
  const second = connect(path);
  const lines: string[] = [];
  for await (const line of createInterface({ input: second })) lines.push(line);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { id: -1, error: { code: -32001, message: 'the server has its limit of 1 connections' } },
  ]);
  first.destroy();
});
