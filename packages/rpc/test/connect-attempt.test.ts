import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { connectBrowserWebSocket } from '../src/index.js';
import { connectWebSocket } from '../src/node/index.js';

/** Takes connections and says nothing. */
async function listenSilently(): Promise<{ url: string; accepted: Promise<Socket> }> {
  const server = createServer();
  onTestFinished(() => void server.close());
  const accepted = once(server, 'connection').then(([socket]: Socket[]) => {
    socket!.on('error', () => {});
    return socket!;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, accepted };
}

describe.each([
  ['connectWebSocket', connectWebSocket],
  ['connectBrowserWebSocket', connectBrowserWebSocket],
])('an attempt of %s', (_name, connect) => {
  test('is given up with the reason of its signal, and the socket with it', async () => {
    vi.stubGlobal('WebSocket', WebSocket);
    onTestFinished(() => void vi.unstubAllGlobals());
    const { url, accepted } = await listenSilently();
    const controller = new AbortController();
    const connecting = connect(url, { signal: controller.signal, timeoutMs: Number.POSITIVE_INFINITY });
    const socket = await accepted;
    const gone = once(socket.resume(), 'close');
    controller.abort(new Error('enough'));
    await expect(connecting).rejects.toThrow('enough');
    await gone;
  });

  test('is not begun under a signal that has gone off', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(connect('ws://127.0.0.1:1', { signal })).rejects.toThrow('too late');
  });
});
