import type { NetworkDecision } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { WireClient } from '../src/wire-client.js';
import { type ScriptedServer, scriptAcceptingServer } from './support/scripted-server.js';

const ask = (id: unknown, more: object = {}) => ({
  id,
  method: 'network/policyRequest',
  params: { processId: 'p', request: { protocol: 'https_connect', host: 'example.org', port: 443 }, ...more },
});

const answerTo = (server: ScriptedServer, wanted: number) =>
  server.find(({ id, method }) => id === wanted && method === undefined);

test('without a handler every connection is denied', async () => {
  const server = scriptAcceptingServer();
  await WireClient.connect(server.transport, { clientName: 'test' });
  server.send(ask(5));
  expect(await answerTo(server, 5)).toEqual({
    id: 5,
    result: { decision: { type: 'deny', reason: 'this client allows no connections' } },
  });
});

test('a handler decides; one that throws denies', async () => {
  const server = scriptAcceptingServer();
  await WireClient.connect(server.transport, {
    clientName: 'test',
    onNetworkPolicyRequest: ({ processId, request }) => {
      if (processId === 'bad') throw new Error('a secret');
      return request.port === 443 ? { type: 'allow' } : { type: 'ask', reason: 'odd port' };
    },
  });
  server.send(ask(0), ask(1, { processId: 'bad' }));
  expect(await answerTo(server, 0)).toEqual({ id: 0, result: { decision: { type: 'allow' } } });
  expect(await answerTo(server, 1)).toEqual({
    id: 1,
    result: { decision: { type: 'deny', reason: 'the client could not decide' } },
  });
});

describe('what costs the connection', () => {
  test.each([
    ['a string', 'r'],
    ['a negative number', -2],
  ])('%s as id', async (_name, id) => {
    const server = scriptAcceptingServer();
    const client = await WireClient.connect(server.transport, { clientName: 'test' });
    server.send(ask(id));
    expect(await client.closed).toContain(`request id ${JSON.stringify(id)} is no integer from 0`);
    expect(client.violation?.message).toBe(await client.closed);
  });

  test('an id that still waits for its answer', async () => {
    const server = scriptAcceptingServer();
    const client = await WireClient.connect(server.transport, {
      clientName: 'test',
      onNetworkPolicyRequest: () => new Promise<NetworkDecision>(() => {}),
    });
    server.send(ask(1), ask(1));
    expect(await client.closed).toContain('request id 1 is in use already');
  });

  test('a question that cannot be read', async () => {
    const server = scriptAcceptingServer();
    const client = await WireClient.connect(server.transport, { clientName: 'test' });
    server.send({ id: 1, method: 'network/policyRequest', params: {} });
    expect(await client.closed).toContain('`network/policyRequest`: missing field');
  });
});

test('a server that asks for a sign of life gets one', async () => {
  const server = scriptAcceptingServer();
  await WireClient.connect(server.transport, { clientName: 'test' });
  server.send({ id: 3, method: 'client/status', params: null });
  expect(await answerTo(server, 3)).toEqual({ id: 3, result: { status: 'ready' } });
});

test('an id may be used again after its answer', async () => {
  const server = scriptAcceptingServer();
  await WireClient.connect(server.transport, { clientName: 'test' });
  server.send(ask(1));
  await answerTo(server, 1);
  server.send(ask(1), ask(2));
  expect(await answerTo(server, 2)).toBeDefined();
});

test('256 questions may be open; more are denied', async () => {
  const server = scriptAcceptingServer();
  let open = 0;
  await WireClient.connect(server.transport, {
    clientName: 'test',
    onNetworkPolicyRequest: () => {
      open++;
      return new Promise<NetworkDecision>(() => {});
    },
  });
  for (let id = 0; id <= 256; id++) server.send(ask(id));
  expect(await answerTo(server, 256)).toMatchObject({ result: { decision: { type: 'deny' } } });
  expect(open).toBe(256);
});
