import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planListeners } from '../../src/serve/plan-listeners.js';
import type { ServeSettings } from '../../src/serve/settings.js';

let pem: string;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'plan-'));
  pem = join(directory, 'x.pem');
  writeFileSync(pem, 'PEM');
});
afterAll(() => rmSync(directory, { recursive: true }));

it('listens on a free loopback port unless told otherwise', () => {
  expect(planListeners({})).toEqual([{ url: 'ws://127.0.0.1:0', options: {} }]);
});

it('gives each listener what concerns it, in the order of the command line', () => {
  const plan = planListeners({
    listen: ['stdio', 'wss://127.0.0.1:1', 'ws://127.0.0.1:2', 'unix:///x'],
    wsAuth: 'capability-token',
    wsTokenSha256: '0'.repeat(64),
    allowOrigin: ['https://a'],
    allowHost: ['b'],
    allowUnauthenticated: true,
    tlsCert: pem,
    tlsKey: pem,
  });
  const webSocket = {
    auth: expect.anything(),
    allowedOrigins: ['https://a'],
    allowedHosts: ['b'],
    allowUnauthenticated: true,
  };
  const tls = { cert: Buffer.from('PEM'), key: Buffer.from('PEM') };
  expect(plan).toEqual([
    { url: 'stdio', options: {} },
    { url: 'wss://127.0.0.1:1', options: { ...webSocket, tls } },
    { url: 'ws://127.0.0.1:2', options: webSocket },
    { url: 'unix:///x', options: {} },
  ]);
});

it.each<[ServeSettings, string]>([
  [{ listen: ['stdio', 'stdio://'] }, 'there is only one stdio to listen on'],
  [{ tlsCert: 'a' }, '`--tls-cert` and `--tls-key` are only useful together'],
  [{ tlsKey: 'a' }, '`--tls-cert` and `--tls-key` are only useful together'],
  [{ tlsCert: 'a', tlsKey: 'b' }, '`--tls-cert` and `--tls-key` require a `wss://` listener'],
  [
    { listen: ['wss://127.0.0.1:0'], tlsCert: '/nope', tlsKey: '/nope' },
    "failed to read /nope: ENOENT: no such file or directory, open '/nope'",
  ],
  [{ listen: ['stdio'], allowOrigin: ['x'] }, '`--allow-origin` requires a WebSocket listener, not stdio'],
  [{ listen: ['unix:///x'], allowHost: ['x'] }, '`--allow-host` requires a WebSocket listener, not unix'],
  [
    { listen: ['stdio'], allowUnauthenticated: true },
    '`--allow-unauthenticated` requires a WebSocket listener, not stdio',
  ],
])('refuses %j', (settings, message) => {
  expect(() => planListeners(settings)).toThrow(message);
});
