import { describe, expect, it } from 'vitest';
import { MAX_REQUESTS } from '../../../src/network-proxy/http/http-proxy.js';
import { connectToPort, openProxy, readAll, talk } from '../../support/network-proxy.js';
import { respond, startOrigin } from '../../support/origin.js';

const LOCAL = { domains: { '127.0.0.1': 'allow' } } as const;

const get = (url: string, head = '') => `GET ${url} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;

describe('requests', () => {
  it('go on without what is between neighbours, and come back the same way', async () => {
    const origin = await startOrigin((_, socket) =>
      respond(socket, 'hello', 'Set-Cookie: a\r\nSet-Cookie: b\r\nKeep-Alive: timeout=5\r\n', '201 Made'),
    );
    const { ports, decisions } = await openProxy(LOCAL);
    const host = `127.0.0.1:${origin.port}`;
    const head = `Host: ${host}\r\nX-Own: 1\r\nProxy-Authorization: Basic eA==\r\nX-Named: 2\r\nConnection: x-named\r\n`;
    const answer = await talk(ports.http, get(`http://${host}/a?b=c`, head));
    expect(answer).toMatch(/^HTTP\/1\.1 201 Made\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n/);
    expect(answer).not.toMatch(/keep-alive/i);
    expect(answer).toMatch(/\r\n\r\nhello$/);
    const [request = ''] = origin.requests;
    expect(request).toMatch(/^GET \/a\?b=c HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nX-Own: 1\r\n/);
    expect(request).not.toMatch(/proxy-|x-named/i);
    expect(decisions).toEqual([
      {
        protocol: 'http',
        host: '127.0.0.1',
        port: origin.port,
        method: 'GET',
        client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        scope: 'domain',
        decision: 'allow',
        source: 'baseline_policy',
        reason: 'allow',
        policyOverride: false,
      },
    ]);
  });

  it.each([
    ['a length', 'Content-Length: 3\r\n\r\nabc', /content-length: 3\r\n[\s\S]*abc$/i],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n', /chunked[\s\S]*abc\r\n0\r\n\r\n$/i],
  ])('keep their bodies: %s', async (_name, rest, expected) => {
    const origin = await startOrigin((_, socket) => respond(socket, 'thanks'));
    const { ports } = await openProxy(LOCAL);
    const host = `127.0.0.1:${origin.port}`;
    const socket = await connectToPort(ports.http);
    const answer = readAll(socket);
    socket.write(`POST http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${rest}`);
    expect(await answer).toMatch(/thanks$/);
    expect(origin.requests[0]).toMatch(expected);
  });

  it('are answered with 502 where the answer has an encoding that would be lost', async () => {
    const origin = await startOrigin((_, socket) =>
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
    );
    const { ports } = await openProxy(LOCAL);
    const host = `Host: 127.0.0.1:${origin.port}\r\n`;
    expect(await talk(ports.http, get(origin.url('/'), host))).toMatch(/^HTTP\/1\.1 502 /);
  });

  it('follow each other on one connection, each decided for itself', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'ok'));
    const { ports, decisions } = await openProxy(LOCAL);
    const url = origin.url('/');
    const host = `Host: 127.0.0.1:${origin.port}\r\n`;
    const first = `GET ${url} HTTP/1.1\r\n${host}\r\n`.repeat(12);
    const answer = await talk(
      ports.http,
      `${first}${get('http://other.example/', 'Host: other.example\r\n')}`,
    );
    expect(answer.match(/200 OK/g)).toHaveLength(12);
    expect(answer).toMatch(/403 Forbidden/);
    expect(decisions.filter(({ decision }) => decision === 'allow')).toHaveLength(12);
  });

  it.each([
    ['not_allowed', 'blocked-by-allowlist', 'Domain not in allowlist.', {}],
    [
      'denied',
      'blocked-by-denylist',
      'Domain denied by the sandbox policy.',
      { domains: { 'a.com': 'deny' } },
    ],
  ] as const)('are refused in JSON: %s', async (reason, code, message, config) => {
    const { ports, decisions } = await openProxy(config);
    const answer = await talk(ports.http, get('http://a.com:81/', 'Host: a.com:81\r\n'));
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 403 Forbidden\r\ncontent-type: application\/json\r\n/);
    expect(head).toContain(`x-proxy-error: ${code}\r\n`);
    const refusal = {
      host: 'a.com',
      reason,
      decision: 'deny',
      source: 'baseline_policy',
      protocol: 'http',
      port: 81,
    };
    expect(JSON.parse(body)).toEqual({ status: 'blocked', ...refusal, message });
    expect(decisions).toEqual([expect.objectContaining({ ...refusal, scope: 'domain', method: 'GET' })]);
  });

  it('of other kinds are answered in words', async () => {
    const { ports } = await openProxy(LOCAL);
    expect(await talk(ports.http, get('http://a/', 'Host: b\r\n'))).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*Host header does not match request target$/,
    );
    expect(await talk(ports.http, get('https://a/', 'Host: a\r\n'))).toMatch(/^HTTP\/1\.1 400 /);
    expect(await talk(ports.http, 'garbage\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await talk(ports.http, get('http://127.0.0.1:1/', 'Host: 127.0.0.1:1\r\n'))).toMatch(
      /^HTTP\/1\.1 502 [\s\S]*upstream failure$/,
    );
  });

  it('for Unix sockets are not supported', async () => {
    const { ports, decisions } = await openProxy(LOCAL);
    const answer = await talk(ports.http, get('http://a/', 'Host: a\r\nX-Unix-Socket: /run/x.sock\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 501 [\s\S]*unix sockets unsupported$/);
    expect(decisions).toMatchObject([
      { scope: 'non_domain', source: 'proxy_state', reason: 'unix_socket_unsupported', host: 'unix-socket' },
    ]);
  });

  it.each([
    [64 * 1024 - 1024, '502'],
    [64 * 1024 + 1024, '431'],
  ])('with a head of some %i bytes are answered with %s', async (bytes, status) => {
    const { ports } = await openProxy(LOCAL);
    const head = `Host: 127.0.0.1:1\r\nX-Long: ${'x'.repeat(bytes)}\r\n`;
    expect(await talk(ports.http, get('http://127.0.0.1:1/', head))).toMatch(`HTTP/1.1 ${status} `);
  });

  it('end with the program that made them', async () => {
    const origin = await startOrigin(() => {});
    const { ports } = await openProxy(LOCAL);
    const socket = await connectToPort(ports.http);
    socket.write(get(origin.url('/'), `Host: 127.0.0.1:${origin.port}\r\n`));
    await origin.untilAsked(1);
    socket.destroy();
    await origin.untilAlone();
  });

  it('beyond the limit are answered with 503, until others are over', async () => {
    const origin = await startOrigin(() => {});
    const { ports } = await openProxy(LOCAL);
    const host = `127.0.0.1:${origin.port}`;
    const wanted = `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const busy = await connectToPort(ports.http);
    busy.write(wanted.repeat(MAX_REQUESTS));
    await origin.untilAsked(MAX_REQUESTS);
    expect(await talk(ports.http, get(`http://${host}/`, `Host: ${host}\r\n`))).toMatch(/^HTTP\/1\.1 503 /);
    busy.destroy();
    await origin.untilAlone();
    const late = await connectToPort(ports.http);
    late.write(wanted);
    await origin.untilAsked(MAX_REQUESTS + 1);
  });

  it.each(['127.0.0.1', '0.0.0.0', '0', '[::ffff:127.0.0.1]', '[::]'])(
    'never go to the proxy itself: %s',
    async (name) => {
      const domains = { '127.0.0.1': 'allow', '0.0.0.0': 'allow', '::': 'allow' } as const;
      const { ports, decisions } = await openProxy({ domains });
      const host = `${name}:${ports.http}`;
      expect(await talk(ports.http, get(`http://${host}/`, `Host: ${host}\r\n`))).toMatch(/^HTTP\/1\.1 403 /);
      expect(decisions).toMatchObject([{ reason: 'not_allowed_local' }]);
    },
  );
});

describe('tunnels', () => {
  it('carry both directions, from what came behind the request to the end', async () => {
    const origin = await startOrigin((request, socket) => {
      respond(socket, request.split(' ')[1]);
      socket.end();
    });
    const { ports, decisions } = await openProxy(LOCAL);
    const host = `127.0.0.1:${origin.port}`;
    const answer = await talk(
      ports.http,
      `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\nGET /in HTTP/1.1\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*\/in$/);
    expect(decisions).toMatchObject([{ protocol: 'https_connect', method: 'CONNECT', decision: 'allow' }]);
  });

  it.each(['127.0.0.1:PORT', '127.0.0.1', '127.1', '127.1:PORT'])('may have the Host %s', async (named) => {
    const origin = await startOrigin((_, socket) => {
      respond(socket, 'in');
      socket.end();
    });
    const { ports } = await openProxy(LOCAL);
    const head = `CONNECT 127.0.0.1:${origin.port} HTTP/1.1\r\nHost: ${named.replace('PORT', `${origin.port}`)}`;
    expect(await talk(ports.http, `${head}\r\n\r\nGET / HTTP/1.1\r\n\r\n`)).toMatch(/in$/);
  });

  it('are refused in words', async () => {
    const { ports } = await openProxy();
    expect(await talk(ports.http, 'CONNECT a.com:443 HTTP/1.1\r\nHost: a.com\r\n\r\n')).toBe(
      'HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nx-proxy-error: blocked-by-allowlist\r\n' +
        'content-length: 24\r\nconnection: close\r\n\r\nDomain not in allowlist.',
    );
    expect(await talk(ports.http, 'CONNECT a@b HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('to where nobody is are told so', async () => {
    const { ports } = await openProxy(LOCAL);
    expect(await talk(ports.http, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 502 [\s\S]*upstream failure$/,
    );
  });
});

describe('limited mode', () => {
  const LIMITED = { ...LOCAL, mode: 'limited' } as const;

  it.each([
    ['GET', '200'],
    ['HEAD', '200'],
    ['OPTIONS', '200'],
    ['POST', '403'],
    ['PUT', '403'],
    ['DELETE', '403'],
  ])('%s: %s', async (method, status) => {
    const origin = await startOrigin((_, socket) => {
      respond(socket, '');
      socket.end();
    });
    const { ports, decisions } = await openProxy(LIMITED);
    const host = `127.0.0.1:${origin.port}`;
    const request = `${method} http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    expect(await talk(ports.http, request)).toMatch(`HTTP/1.1 ${status} `);
    if (status === '200') return;
    expect(decisions).toMatchObject([
      { scope: 'domain', decision: 'allow' },
      { scope: 'non_domain', decision: 'deny', source: 'mode_guard', reason: 'method_not_allowed' },
    ]);
  });

  it('opens no tunnels, in which it could not see the method', async () => {
    const { ports } = await openProxy(LIMITED);
    expect(await talk(ports.http, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')).toMatch(
      /x-proxy-error: blocked-by-mitm-required\r\n[\s\S]*MITM required for limited HTTPS\.$/,
    );
  });
});
