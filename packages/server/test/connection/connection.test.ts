import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../support/session.js';

const open = () => openInProcessWire(openServer());

describe('handshake', () => {
  it('initialize tells the session, the machine and the version that older clients look for', async () => {
    const { result } = await open().request('initialize', { clientName: 'test' });
    expect(result).toMatchObject({
      sessionId: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      environmentInfo: { shell: { path: expect.any(String) } },
      protocolVersion: 'exec-server.v0',
    });
  });

  it('takes positional params', async () => {
    expect((await open().request('initialize', ['test', null])).result).toBeDefined();
  });

  it.each([
    ['process/terminate', { processId: 'x' }, 'exec'],
    ['process/start', startParams('x', ['true']), 'exec'],
    ['fs/close', { handleId: 'x' }, 'filesystem'],
    ['http/request', { method: 'GET', url: 'http://127.0.0.1:9/', requestId: 'x' }, 'http'],
    ['environment/info', undefined, 'environment info'],
    ['environment/status', undefined, 'environment status'],
    [
      'environmentConfig/read',
      { cwd: 'file:///tmp', configPaths: [], requirementsPaths: [] },
      'environment config',
    ],
    ['capabilityRoots/discoverV1', { roots: [] }, 'capability discovery'],
    ['capabilities/discoverV2', { cwd: 'file:///tmp' }, 'capability discovery'],
  ])('%s needs both steps', async (method, params, family) => {
    const wire = open();
    const refused = async () => (await wire.request(method, params)).error;
    expect(await refused()).toMatchObject({
      code: -32600,
      message: `client must call initialize before using ${family} methods`,
    });
    await wire.request('initialize', { clientName: 'test' });
    expect(await refused()).toMatchObject({
      code: -32600,
      message: `client must send initialized before using ${family} methods`,
    });
  });

  it('params are checked before the handshake, unknown methods before that', async () => {
    const wire = open();
    expect((await wire.request('process/read', {})).error?.code).toBe(-32602);
    expect((await wire.request('nope/nope', {})).error).toMatchObject({
      code: -32601,
      message: 'exec-server stub does not implement `nope/nope` yet',
    });
  });

  it('is done once', async () => {
    const wire = await openSession(openServer());
    expect((await wire.request('initialize', { clientName: 'again' })).error).toMatchObject({
      code: -32600,
      message: 'initialize may only be sent once per connection',
    });
    wire.send({ method: 'initialized', params: [1, 2] });
    expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
  });

  it('a failed initialize may be tried again', async () => {
    const wire = open();
    expect((await wire.request('initialize', {})).error?.code).toBe(-32602);
    expect((await wire.request('initialize', { clientName: 'test' })).result).toBeDefined();
  });
});

describe('what ends a connection', () => {
  it('initialized before initialize', async () => {
    const wire = open();
    wire.send({ method: 'initialized' });
    expect(await wire.closed).toContain('received `initialized` notification before `initialize`');
  });

  it('a notification that nobody knows', async () => {
    const wire = await openSession(openServer());
    wire.send({ method: 'foo/bar' });
    expect(await wire.closed).toContain('unexpected notification method: foo/bar');
  });

  it.each([
    ['result', { id: 77, result: {} }],
    ['error', { id: 77, error: { code: 1, message: 'x' } }],
  ])('a %s to a request that was never sent', async (_name, message) => {
    const wire = await openSession(openServer());
    wire.send(message);
    expect(await wire.closed).toContain('unexpected client response for request id 77');
  });

  it('but not its neighbour, and not the session', async () => {
    const server = openServer();
    const [bad, good] = [await openSession(server), await openSession(server)];
    bad.send({ method: 'foo/bar' });
    await bad.closed;
    expect((await good.request('environment/status')).result).toEqual({ status: 'ready' });
    expect((await openSession(server, bad.sessionId)).sessionId).toBe(bad.sessionId);
  });
});

it('garbage is answered with id −1 and costs nothing else', async () => {
  const wire = open();
  for (const garbage of [
    'not json',
    '',
    '[]',
    '5',
    '{}',
    '{"id":1.5,"method":"x"}',
    '{"id":1,"id":2,"method":"x"}',
  ]) {
    wire.sendRaw(garbage);
    const { error } = await wire.next(({ id }) => id === -1, `an answer to ${garbage}`);
    expect(error?.code).toBe(-32600);
    expect(error?.message).toMatch(/^failed to parse JSON-RPC message from exec-server client \d+: /);
  }
  expect((await wire.request('initialize', { clientName: 'test' })).result).toBeDefined();
});

describe('too many requests', () => {
  it('the one beyond the limit is refused, and the connection works on', async () => {
    const wire = await openSession(openServer({ pendingRequests: 3 }));
    await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
    const polls = [1, 2, 3].map(() => wire.request('process/read', { processId: 'p', waitMs: 1e12 }));
    expect((await wire.request('process/read', { processId: 'p', waitMs: 1e12 })).error).toMatchObject({
      code: -32001,
      message: 'too many requests are pending on this connection',
    });
    // The way out stays open.
    wire.send({ id: 'kill', method: 'process/terminate', params: { processId: 'p' } });
    await Promise.all(polls);
    await untilClosed(wire, 'p');
  });
});

it('requests run beside each other by default', async () => {
  const wire = await openSession(openServer());
  await wire.request('process/start', shellParams('p', 'sleep 30'));
  const order: string[] = [];
  const poll = wire.request('process/read', { processId: 'p', waitMs: 50 }).then(() => order.push('read'));
  await wire.request('environment/status').then(() => order.push('status'));
  await poll;
  expect(order).toEqual(['status', 'read']);
});
