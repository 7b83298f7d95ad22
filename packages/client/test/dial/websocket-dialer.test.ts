import { createHash } from 'node:crypto';
import { createCapabilityTokenPolicy, createExecServer } from '@exec-server/server';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { browserDialers } from '../../src/dial/browser-dialers.js';
import { nodeDialers } from '../../src/node/node-dialers.js';
import { WireClient } from '../../src/wire-client.js';

// The client class of `ws` has the interface of the browsers'; Node 20 has none of its own.
beforeEach(() => vi.stubGlobal('WebSocket', WebSocket));
afterEach(() => vi.unstubAllGlobals());

const never = new AbortController().signal;

async function listenFor(token: string): Promise<string> {
  const server = createExecServer();
  onTestFinished(() => server.close());
  const auth = createCapabilityTokenPolicy(createHash('sha256').update(token).digest());
  const listener = await server.listen('ws://127.0.0.1:0', { auth });
  return listener.url;
}

describe.each([
  ['node', nodeDialers],
  ['browser', browserDialers],
])('WebSockets on the platform %s', (_name, platform) => {
  test('each connection has a token that is valid then', async () => {
    const url = await listenFor('second');
    const tokens = ['first', 'second'];
    const dialer = platform.websocket(url, { token: async () => tokens.shift() ?? '' });
    await expect(dialer.dial(never)).rejects.toMatchObject({ code: 'connect_failed' });
    const transport = await dialer.dial(never);
    const client = await WireClient.connect(transport, { clientName: 'test' });
    expect(client.sessionId).not.toBe('');
    client.close();
    await client.closed;
    expect(tokens).toEqual([]);
  });

  test('no token is in an error, a label or an address', async () => {
    const url = `${await listenFor('right')}/?token=s3cret`;
    const dialer = platform.websocket(url, { token: 's3cret' });
    const failure: unknown = await dialer.dial(never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'connect_failed' });
    const { message, cause } = failure as Error;
    expect([message, String(cause), dialer.address].join()).not.toContain('s3cret');
  });

  test('a token that cannot be had is connect_failed, with its cause', async () => {
    const cause = new Error('the vault is closed');
    const dialer = platform.websocket('ws://127.0.0.1:1', { token: () => Promise.reject(cause) });
    await expect(dialer.dial(never)).rejects.toMatchObject({
      code: 'connect_failed',
      message: 'failed to get a token for exec-server at ws://127.0.0.1:1',
      retryable: true,
      cause,
    });
  });

  test('the time for a connection includes that for the token', async () => {
    const token = () => new Promise<string>(() => {});
    const dialer = platform.websocket('ws://127.0.0.1:1', { token, connectTimeoutMs: 1 });
    await expect(dialer.dial(never)).rejects.toMatchObject({ code: 'connect_timeout' });
  });
});

test('on Node a wrong token is told with the words of the server, and is not worth another try', async () => {
  const dialer = nodeDialers.websocket(await listenFor('right'), { token: 'wrong' });
  await expect(dialer.dial(never)).rejects.toMatchObject({
    code: 'connect_failed',
    retryable: false,
    message: expect.stringContaining('401'),
  });
});
