import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openServer } from '../../support/session.js';

const clientInfo = { name: 'probe', title: null, version: '0.1.0' };
const open = () => openInProcessWire(openServer({ env: { HOME: '/home/somebody' } }));

describe('initialize', () => {
  it('tells about client, server and machine', async () => {
    const { result } = await open().request('initialize', { clientInfo, capabilities: null });
    expect(result).toEqual({
      userAgent: expect.stringMatching(/^probe\/\d\S* \([^()]+; [^()]+\) \S+ \(probe; 0\.1\.0\)$/),
      codexHome: '/home/somebody/.codex',
      platformFamily: 'unix',
      platformOs: expect.any(String),
    });
  });

  it('needs no word after it', async () => {
    const wire = open();
    await wire.request('initialize', { clientInfo });
    const { result } = await wire.request('command/exec', { command: ['/bin/true'] });
    expect(result).toMatchObject({ exitCode: 0 });
  });

  it('is done once, and a failed attempt does not count', async () => {
    const wire = open();
    const refused = await wire.request('initialize', { clientInfo: { name: 'bad\nname', version: '1' } });
    expect(refused.error).toMatchObject({
      code: -32600,
      message: "Invalid clientInfo.name: 'bad\nname'. Must be a valid HTTP header value.",
    });
    expect((await wire.request('initialize', { clientInfo: { name: 'x' } })).error).toMatchObject({
      code: -32600,
      message: 'Invalid request: missing field `version`',
    });
    expect((await wire.request('initialize', { clientInfo })).result).toBeDefined();
    expect((await wire.request('initialize', { clientInfo })).error).toMatchObject({
      code: -32600,
      message: 'Already initialized',
    });
  });
});

it.each([
  ['command/exec', { command: ['true'] }],
  ['config/read', {}],
])('before it %s is refused in the words of this dialect', async (method, params) => {
  const { error } = await open().request(method, params);
  expect(error).toMatchObject({ code: -32600, message: 'Not initialized' });
});

it('methods that may still change are for those who asked', async () => {
  const wire = open();
  await wire.request('initialize', { clientInfo });
  const params = { command: ['true'], processHandle: 'p', cwd: '/tmp' };
  expect((await wire.request('process/spawn', params)).error).toMatchObject({
    code: -32600,
    message: 'process/spawn requires experimentalApi capability',
  });
});

it('neither garbage nor words that nobody asked for cost anything', async () => {
  const wire = open();
  await wire.request('initialize', { clientInfo });
  wire.sendRaw('not json');
  wire.send({ method: 'no/such/notification' });
  wire.send({ id: 77, result: {} });
  expect((await wire.request('command/exec', { command: ['/bin/true'] })).result).toBeDefined();
  expect(wire.received.map(({ id }) => id)).toEqual([1, 2]);
});
