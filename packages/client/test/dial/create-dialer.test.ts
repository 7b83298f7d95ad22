import { createMemoryTransportPair } from '@exec-server/rpc';
import { createExecServer } from '@exec-server/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { browserDialers } from '../../src/dial/browser-dialers.js';
import { createDialerOn } from '../../src/dial/create-dialer.js';
import type { DialOptions } from '../../src/dial/dial-options.js';
import type { ConnectTarget } from '../../src/dial/target.js';
import { nodeDialers } from '../../src/node/node-dialers.js';

function openServer() {
  const server = createExecServer();
  onTestFinished(() => server.close());
  return server;
}

describe('what a target is', () => {
  test.each([
    ['ws://127.0.0.1:7711', 'ws://127.0.0.1:7711', true],
    [new URL('wss://box.example/'), 'wss://box.example/', true],
    ['ws://me:secret@box.example/?token=secret', 'ws://box.example/', true],
    ['unix:///run/exec%20server.sock', 'unix:///run/exec%20server.sock', true],
    [{ command: ['exec-server', '--listen', 'stdio'] }, 'stdio:exec-server', false],
    [openServerLike(), 'in-process', false],
    [createMemoryTransportPair('mine')[0], 'mine', false],
  ] as const)('%s', (target, address, redials) => {
    expect(createDialerOn(nodeDialers, target, {})).toMatchObject({ address, redials });
  });

  test('a dialer is taken as it is', () => {
    const dialer = createDialerOn(nodeDialers, 'ws://127.0.0.1:1', {});
    expect(createDialerOn(nodeDialers, dialer, {})).toBe(dialer);
  });

  test('a real server is one in this process', () => {
    expect(createDialerOn(browserDialers, openServer(), {}).address).toBe('in-process');
  });
});

function openServerLike() {
  return { accept() {} };
}

describe('what cannot be meant is refused', () => {
  test.each<[ConnectTarget, DialOptions, string]>([
    ['http://127.0.0.1', {}, 'expected a URL that begins with ws://, wss:// or unix://'],
    ['127.0.0.1:7711', {}, 'expected a URL that begins with'],
    ['', {}, 'expected a URL that begins with'],
    ['unix://relative.sock', {}, 'expected unix:// and an absolute path'],
    [{ command: [] }, {}, '`command` must name a program'],
    [{} as ConnectTarget, {}, 'expected a URL, a command, a server, a transport or a dialer'],
    [undefined as unknown as ConnectTarget, {}, 'expected a URL, a command'],
    ['unix:///run/x.sock', { token: 't' }, '`token` is for ws:// and wss:// only'],
    [{ command: ['x'] }, { token: 't' }, '`token` is for ws:// and wss:// only'],
    [openServerLike(), { headers: {} }, '`headers` is for ws:// and wss:// only'],
    ['ws://127.0.0.1:1', { tls: {} }, '`tls` is for wss:// only'],
    ['ws://127.0.0.1:1', { connectTimeoutMs: 0 }, '`connectTimeoutMs` must be a whole number of at least 1'],
    ['ws://127.0.0.1:1', { connectTimeoutMs: Number.NaN }, '`connectTimeoutMs` must be'],
  ])('%j with %j', (target, options, message) => {
    expect(() => createDialerOn(nodeDialers, target, options)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }),
    );
  });

  test.each<[ConnectTarget, DialOptions, string]>([
    ['unix:///run/x.sock', {}, 'unix:// needs Node'],
    [{ command: ['x'] }, {}, 'a command to start needs Node'],
    ['wss://box.example', { tls: {} }, '`tls` needs Node'],
    ['wss://box.example', { headers: {} }, '`headers` needs Node'],
  ])('in a browser: %j with %j', (target, options, message) => {
    expect(() => createDialerOn(browserDialers, target, options)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }),
    );
  });
});
