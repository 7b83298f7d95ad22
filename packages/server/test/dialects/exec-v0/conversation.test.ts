import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openServer, openSession } from '../../support/session.js';
import { commandParams, openV0 } from '../../support/v0-client.js';

const open = () => openInProcessWire(openServer());
const initializeFirst = { code: -32600, message: 'client must call initialize before using exec methods' };

describe('before initialize', () => {
  it.each([
    ['command/exec', { argv: ['true'] }],
    ['command/exec', commandParams(['true'])],
    ['command/exec/write', { sessionId: 's', chunk: '' }],
    ['command/exec/write', { chunk: 5 }],
    ['command/exec/terminate', { sessionId: 's' }],
  ])('%s with %o is of this generation', async (method, params) => {
    expect((await open().request(method, params)).error).toMatchObject(initializeFirst);
  });

  it.each([
    ['command/exec', {}],
    ['command/exec', undefined],
    ['command/exec/write', { processId: 'p' }],
  ])('%s with %o is of none', async (method, params) => {
    expect((await open().request(method, params)).error).toMatchObject({
      code: -32601,
      message: `exec-server stub does not implement \`${method}\` yet`,
    });
  });

  it('a name that only looks like one of this generation is told so', async () => {
    expect((await open().request('command/exec/nope', { sessionId: 's' })).error).toMatchObject({
      code: -32600,
      message: 'unknown method: command/exec/nope',
    });
  });

  it('nothing is settled by that', async () => {
    const wire = open();
    await wire.request('command/exec', commandParams(['true']));
    expect((await wire.request('nope')).error?.code).toBe(-32601);
    wire.sendRaw('not json');
    expect((await wire.next(({ id }) => id === -1, 'an answer')).error?.code).toBe(-32600);
  });
});

describe('between initialize and initialized', () => {
  it('a call is refused, and a malformed one for that', async () => {
    const wire = open();
    await wire.request('initialize', { clientName: 'v0' });
    expect((await wire.request('command/exec', commandParams(['true']))).error).toMatchObject({
      code: -32600,
      message: 'client must send initialized before using exec methods',
    });
    expect((await wire.request('command/exec', {})).error?.code).toBe(-32602);
  });
});

describe('a connection that used this generation', () => {
  const used = async () => {
    const { wire } = await openV0(openServer());
    await wire.request('command/exec', {});
    return wire;
  };

  it.each(['nope', 'command/exec/resize', 'fs/nope'])('does not know %s in its words', async (method) => {
    expect((await (await used()).request(method, {})).error).toMatchObject({
      code: -32600,
      message: `unknown method: ${method}`,
    });
  });

  it('still speaks the current one', async () => {
    const wire = await used();
    expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
    expect((await wire.request('initialize', { clientName: 'again' })).error).toMatchObject({
      code: -32600,
      message: 'initialize may only be sent once per connection',
    });
  });

  it('is closed by a line that is not JSON', async () => {
    const wire = await used();
    wire.sendRaw('not json');
    expect(await wire.closed).toContain('failed to parse JSON-RPC message');
  });

  it.each([
    [{ method: 'foo/bar' }, 'unexpected notification method: foo/bar'],
    [{ id: 77, result: {} }, 'unexpected client response for request id 77'],
  ])('is closed by %o', async (message, reason) => {
    const wire = await used();
    wire.send(message);
    expect(await wire.closed).toContain(reason);
  });
});

it('a connection that did not use it answers in the words of the current one', async () => {
  const wire = await openSession(openServer());
  expect((await wire.request('nope')).error?.code).toBe(-32601);
  wire.sendRaw('not json');
  expect((await wire.next(({ id }) => id === -1, 'an answer')).error?.code).toBe(-32600);
});

it('a failed initialize settles nothing', async () => {
  const wire = open();
  await wire.request('initialize', { clientName: 5 });
  expect((await wire.request('command/exec', {})).error?.code).toBe(-32601);
});
