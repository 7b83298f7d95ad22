import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Listener } from '../../src/listen/listener.js';
import { openListener } from '../../src/listen/open-listener.js';
import { createEcho, type RawRequest, sendRaw, UPGRADE_HEADERS } from './support.js';

let listener: Listener;
beforeAll(async () => {
  listener = await openListener(
    'ws://127.0.0.1:0',
    { allowedOrigins: ['https://app.example'], allowedHosts: ['box.example'] },
    createEcho().accept,
  );
});
afterAll(() => listener.close());

const TEXT = 'text/plain; charset=utf-8';
const without = (name: keyof typeof UPGRADE_HEADERS) => ({ ...UPGRADE_HEADERS, [name]: undefined });

/** Each request with the status, the `Allow` header, the content type and the body of its answer. */
const cases: [string, RawRequest, [number, string | undefined, string | undefined, string]][] = [
  ['a probe', { path: '/readyz' }, [200, undefined, undefined, '']],
  ['a HEAD probe', { path: '/readyz', method: 'HEAD' }, [200, undefined, undefined, '']],
  ['our own probe', { path: '/healthz' }, [200, undefined, undefined, '']],
  ['a probe with a query', { path: '/readyz?x=1' }, [200, undefined, undefined, '']],
  [
    'a probe that asks for an upgrade',
    { path: '/readyz', headers: UPGRADE_HEADERS },
    [200, undefined, undefined, ''],
  ],
  [
    'a probe of HTTP/1.0',
    { path: '/readyz', version: '1.0', headers: { Host: undefined } },
    [200, undefined, undefined, ''],
  ],
  [
    'an upgrade without Host',
    { headers: { ...UPGRADE_HEADERS, Host: undefined } },
    [400, undefined, TEXT, 'Host header missing'],
  ],
  [
    'a probe without Host',
    { path: '/readyz', headers: { Host: undefined } },
    [400, undefined, TEXT, 'Host header missing'],
  ],
  [
    'a probe without Host that asks for an upgrade',
    { path: '/readyz', headers: { ...UPGRADE_HEADERS, Host: undefined } },
    [400, undefined, TEXT, 'Host header missing'],
  ],
  [
    'HTTP/2.0 without Host',
    { path: '/readyz', version: '2.0', headers: { Host: undefined } },
    [400, undefined, TEXT, 'Host header missing'],
  ],
  [
    'an upgrade with a second Host',
    { headers: { ...UPGRADE_HEADERS, host: 'evil.example' } },
    [400, undefined, TEXT, 'more than one Host header'],
  ],
  [
    'a probe with the same Host twice',
    { path: '/readyz', headers: { Host: 'box.example', HOST: 'box.example' } },
    [400, undefined, TEXT, 'more than one Host header'],
  ],
  [
    'two tokens',
    { headers: { ...UPGRADE_HEADERS, Authorization: 'Bearer a', authorization: 'Bearer b' } },
    [400, undefined, TEXT, 'more than one Authorization header'],
  ],
  [
    'an empty Host',
    { headers: { ...UPGRADE_HEADERS, Host: '' } },
    [403, undefined, TEXT, 'Host header does not name this server'],
  ],
  [
    'a target that names another server',
    { path: 'http://evil.example/', headers: UPGRADE_HEADERS },
    [403, undefined, TEXT, 'Host header does not name this server'],
  ],
  ['a probe in absolute form', { path: 'http://127.0.0.1/readyz' }, [200, undefined, undefined, '']],
  ['POST to a probe', { path: '/readyz', method: 'POST' }, [405, 'GET,HEAD', undefined, '']],
  ['another path', { path: '/nope' }, [404, undefined, undefined, '']],
  [
    'another path that asks for an upgrade',
    { path: '/x', headers: UPGRADE_HEADERS },
    [404, undefined, undefined, ''],
  ],
  ['a trailing slash', { path: '/readyz/' }, [404, undefined, undefined, '']],
  ['two slashes', { path: '//', headers: UPGRADE_HEADERS }, [404, undefined, undefined, '']],
  ['OPTIONS *', { path: '*', method: 'OPTIONS' }, [404, undefined, undefined, '']],
  ['GET /', {}, [400, undefined, TEXT, "Connection header did not include 'upgrade'"]],
  ['POST /', { method: 'POST' }, [405, undefined, TEXT, 'Request method must be `GET`']],
  ['HEAD /', { method: 'HEAD' }, [405, undefined, TEXT, '']],
  [
    'POST / that asks for an upgrade',
    { method: 'POST', headers: UPGRADE_HEADERS },
    [405, undefined, TEXT, 'Request method must be `GET`'],
  ],
  [
    'no Upgrade header',
    { headers: without('Upgrade') },
    [400, undefined, TEXT, "`Upgrade` header did not include 'websocket'"],
  ],
  [
    'another protocol',
    { headers: { ...UPGRADE_HEADERS, Upgrade: 'h2c' } },
    [400, undefined, TEXT, "`Upgrade` header did not include 'websocket'"],
  ],
  [
    'no version',
    { headers: without('Sec-WebSocket-Version') },
    [400, undefined, TEXT, "`Sec-WebSocket-Version` header did not include '13'"],
  ],
  [
    'an old version',
    { headers: { ...UPGRADE_HEADERS, 'Sec-WebSocket-Version': '8' } },
    [400, undefined, TEXT, "`Sec-WebSocket-Version` header did not include '13'"],
  ],
  [
    'no key',
    { headers: without('Sec-WebSocket-Key') },
    [400, undefined, TEXT, '`Sec-WebSocket-Key` header missing'],
  ],
  [
    'a bad key',
    { headers: { ...UPGRADE_HEADERS, 'Sec-WebSocket-Key': 'x' } },
    [400, undefined, TEXT, '`Sec-WebSocket-Key` header is not 16 bytes in base64'],
  ],
  [
    'an upgrade of HTTP/1.0',
    { version: '1.0', headers: UPGRADE_HEADERS },
    [426, undefined, TEXT, "WebSocket request couldn't be upgraded since no upgrade state was present"],
  ],
  ['a foreign origin', { path: '/readyz', headers: { Origin: 'http://x' } }, [403, undefined, undefined, '']],
  ['an empty origin', { path: '/readyz', headers: { Origin: '' } }, [403, undefined, undefined, '']],
  ['the null origin', { headers: { ...UPGRADE_HEADERS, Origin: 'null' } }, [403, undefined, undefined, '']],
  [
    'a foreign origin before the path',
    { path: '/nope', headers: { Origin: 'x' } },
    [403, undefined, undefined, ''],
  ],
  [
    'an origin that only begins like an allowed one',
    { headers: { ...UPGRADE_HEADERS, Origin: 'https://app.example.evil' } },
    [403, undefined, undefined, ''],
  ],
  [
    'a foreign host',
    { headers: { ...UPGRADE_HEADERS, Host: 'evil.example' } },
    [403, undefined, TEXT, 'Host header does not name this server'],
  ],
  [
    'a foreign host before the path',
    { path: '/nope', headers: { Host: 'evil.example' } },
    [403, undefined, TEXT, 'Host header does not name this server'],
  ],
  [
    'a foreign origin before a foreign host',
    { headers: { Host: 'evil.example', Origin: 'http://evil.example' } },
    [403, undefined, undefined, ''],
  ],
];

describe('answers', () => {
  it.each(cases)('%s', async (_, request, [status, allow, contentType, body]) => {
    const response = await sendRaw(listener.url, request);
    expect([
      response.status,
      response.headers.allow,
      response.headers['content-type'],
      response.body,
    ]).toEqual([status, allow, contentType, body]);
  });
});

describe('upgrades', () => {
  it.each<[string, RawRequest]>([
    ['a plain one', { headers: UPGRADE_HEADERS }],
    ['one with a query', { path: '/?a=b', headers: UPGRADE_HEADERS }],
    ['one in absolute form', { path: 'http://127.0.0.1/', headers: UPGRADE_HEADERS }],
    [
      'other capitals',
      { headers: { ...UPGRADE_HEADERS, Upgrade: 'WebSocket', Connection: 'keep-alive, upgrade' } },
    ],
    ['an allowed origin', { headers: { ...UPGRADE_HEADERS, Origin: 'https://app.example' } }],
    ['an allowed host', { headers: { ...UPGRADE_HEADERS, Host: 'box.example' } }],
  ])('%s', async (_, request) => {
    const response = await sendRaw(listener.url, request);
    expect(response.status).toBe(101);
    expect(response.headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(response.headers['sec-websocket-extensions']).toBeUndefined();
  });

  it('echoes the request id', async () => {
    const headers = { ...UPGRADE_HEADERS, 'X-Request-Id': 'abc-1' };
    expect((await sendRaw(listener.url, { headers })).headers['x-request-id']).toBe('abc-1');
    const odd = { ...UPGRADE_HEADERS, 'X-Request-Id': '\xe9' };
    expect((await sendRaw(listener.url, { headers: odd })).headers['x-request-id']).toBeUndefined();
  });

  it('offers no compression', async () => {
    const headers = { ...UPGRADE_HEADERS, 'Sec-WebSocket-Extensions': 'permessage-deflate' };
    expect((await sendRaw(listener.url, { headers })).headers['sec-websocket-extensions']).toBeUndefined();
  });

  it.each([
    ['exec-server', 'exec-server'],
    ['exec-server.bearer.dG9r, exec-server', 'exec-server'],
    ['exec-server.bearer.dG9r', 'exec-server.bearer.dG9r'],
    ['chat', undefined],
  ])('of the subprotocols %s it selects %s', async (offered, selected) => {
    const headers = { ...UPGRADE_HEADERS, 'Sec-WebSocket-Protocol': offered };
    const response = await sendRaw(listener.url, { headers });
    expect(response.status).toBe(101);
    expect(response.headers['sec-websocket-protocol']).toBe(selected);
  });

  it('refuses subprotocols that are none', async () => {
    const headers = { ...UPGRADE_HEADERS, 'Sec-WebSocket-Protocol': 'a, a' };
    expect(await sendRaw(listener.url, { headers })).toMatchObject({ status: 400 });
  });
});
