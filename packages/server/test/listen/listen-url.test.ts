import { describe, expect, it } from 'vitest';
import { formatAuthority, parseListenUrl } from '../../src/listen/listen-url.js';

describe('parseListenUrl', () => {
  it.each([
    ['ws://127.0.0.1:0', { kind: 'websocket', tls: false, host: '127.0.0.1', port: 0 }],
    ['ws://127.0.0.1:08080', { kind: 'websocket', tls: false, host: '127.0.0.1', port: 8080 }],
    ['ws://[::1]:7711', { kind: 'websocket', tls: false, host: '::1', port: 7711 }],
    ['wss://0.0.0.0:65535', { kind: 'websocket', tls: true, host: '0.0.0.0', port: 65_535 }],
    ['stdio', { kind: 'stdio' }],
    ['stdio://', { kind: 'stdio' }],
    ['unix:///run/exec server%20.sock', { kind: 'unix', path: '/run/exec server%20.sock' }],
  ])('reads %s', (url, target) => {
    expect(parseListenUrl(url)).toEqual(target);
  });

  it.each([
    'ws://',
    'ws://localhost:0',
    'ws://127.0.0.1',
    'ws://127.0.0.1:',
    'ws://127.0.0.1:65536',
    'ws://127.0.0.1:-1',
    'ws://127.0.0.1:0/',
    'ws://127.0.0.1:0/x',
    'ws://127.0.0.1:0?x',
    'ws://user@127.0.0.1:0',
    'ws://127.1:0',
    'ws://::1:0',
    'ws://[::1%lo]:0',
    'ws://[127.0.0.1]:0',
    'ws://127.0.0.1:0\n',
  ])('refuses %j', (url) => {
    expect(() => parseListenUrl(url)).toThrow(
      expect.objectContaining({
        code: 'invalid_url',
        message: `invalid websocket --listen URL \`${url}\`; expected \`ws://IP:PORT\``,
      }),
    );
  });

  it.each(['', 'foo', 'http://127.0.0.1:0', 'WS://127.0.0.1:0', 'STDIO', 'stdio:///x', ' ws://127.0.0.1:0'])(
    'does not know %j',
    (url) => {
      expect(() => parseListenUrl(url)).toThrow(
        expect.objectContaining({
          code: 'unsupported_url',
          message: expect.stringContaining(
            `unsupported --listen URL \`${url}\`; expected \`ws://IP:PORT\` or \`stdio\``,
          ),
        }),
      );
    },
  );

  it.each(['unix://', 'unix://relative.sock', 'unix:///run/', 'unix:///a\0b'])('refuses %j', (url) => {
    expect(() => parseListenUrl(url)).toThrow(expect.objectContaining({ code: 'invalid_url' }));
  });
});

describe('formatAuthority', () => {
  it('puts IPv6 in brackets', () => {
    expect(formatAuthority('127.0.0.1', 80)).toBe('127.0.0.1:80');
    expect(formatAuthority('::1', 80)).toBe('[::1]:80');
  });
});
