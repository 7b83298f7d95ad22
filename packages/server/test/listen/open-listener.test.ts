import { expect, it } from 'vitest';
import { createCapabilityTokenPolicy, sha256 } from '../../src/listen/capability-token.js';
import type { ListenOptions } from '../../src/listen/listen-options.js';
import { openListener } from '../../src/listen/open-listener.js';
import { createEcho } from './support.js';

const auth = createCapabilityTokenPolicy(sha256('x'));
const tls = { cert: 'x', key: 'x' };

it.each<[string, ListenOptions, string]>([
  ['stdio', { auth }, 'WebSocket auth requires a WebSocket listener, not stdio'],
  ['unix:///x', { auth }, 'WebSocket auth requires a WebSocket listener, not unix'],
  ['stdio', { allowedOrigins: [] }, 'allowedOrigins requires a WebSocket listener, not stdio'],
  ['unix:///x', { allowedHosts: [] }, 'allowedHosts requires a WebSocket listener, not unix'],
  ['stdio', { allowUnauthenticated: true }, 'allowUnauthenticated requires a WebSocket listener, not stdio'],
  ['stdio', { keepAlive: {} }, 'keepAlive requires a WebSocket listener, not stdio'],
  ['stdio', { http: {} }, 'http requires a WebSocket listener, not stdio'],
  ['ws://127.0.0.1:0', { tls }, 'a TLS certificate requires a wss:// listener, not ws://127.0.0.1:0'],
  [
    'ws://127.0.0.1:0',
    { streams: { input: process.stdin, output: process.stderr } },
    'streams require a stdio listener, not ws://127.0.0.1:0',
  ],
])('%s refuses options that it cannot honour: %j', async (url, options, message) => {
  await expect(openListener(url, options, createEcho().accept)).rejects.toMatchObject({
    code: 'invalid_options',
    message,
  });
});
