import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAX_RESPONSE_HEAD_BYTES } from '../../src/http/exchange.js';
import { HttpClient } from '../../src/http/http-client.js';
import { prepareRequest } from '../../src/http/prepare-request.js';
import { bodyText } from '../support/body-text.js';
import { type Origin, pathOf, respond, startOrigin } from '../support/origin.js';

const client = new HttpClient({});

interface Changes {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
}

async function ask(url: string, { method = 'GET', headers = [], body = '' }: Changes = {}) {
  const request = prepareRequest(
    { method, url, headers: headers.map(([name, value]) => ({ name, value })), body: Buffer.from(body) },
    {},
  );
  return client.send(request, { followRedirects: false, signal: new AbortController().signal });
}

/** What the origin saw, with its port taken out. */
function seen({ requests, port }: Origin): string {
  return requests.join('').replaceAll(`:${port}`, ':PORT');
}

describe('the request on the wire', () => {
  it.each<[string, string, Changes, string]>([
    [
      'nothing but what is needed',
      '/a?b#c',
      {},
      'GET /a?b HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n',
    ],
    ['no path', '', {}, 'GET / HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n'],
    ['an empty query', '/a?', {}, 'GET /a? HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n'],
    [
      'characters that need an escape',
      '/a b/%zz/é?é y',
      {},
      'GET /a%20b/%zz/%C3%A9?%C3%A9%20y HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n',
    ],
    [
      'a body',
      '/',
      { method: 'POST', body: 'xyz' },
      'POST / HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\ncontent-length: 3\r\n\r\nxyz',
    ],
    [
      'an empty body',
      '/',
      { method: 'POST' },
      'POST / HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n',
    ],
    [
      'a body where none is usual',
      '/',
      { body: 'x' },
      'GET / HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\ncontent-length: 1\r\n\r\nx',
    ],
    [
      'headers of the caller, in order, repeats together',
      '/',
      {
        method: 'POST',
        body: 'x',
        headers: [
          ['X-B', '1'],
          ['Accept', 'text/x'],
          ['Content-Length', '1'],
          ['User-Agent', 'u'],
          ['Host', 'example.org'],
          ['Connection', 'close'],
          ['X-A', '2'],
          ['x-b', '3'],
        ],
      },
      'POST / HTTP/1.1\r\nx-b: 1\r\nx-b: 3\r\naccept: text/x\r\ncontent-length: 1\r\nuser-agent: u\r\n' +
        'host: example.org\r\nconnection: close\r\nx-a: 2\r\n\r\nx',
    ],
    [
      'hop-by-hop headers of the caller',
      '/',
      {
        headers: [
          ['Upgrade', 'x'],
          ['Connection', 'Upgrade'],
          ['Keep-Alive', '5'],
          ['Expect', '100-continue'],
        ],
      },
      'GET / HTTP/1.1\r\nupgrade: x\r\nconnection: Upgrade\r\nkeep-alive: 5\r\nexpect: 100-continue\r\n' +
        'accept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n',
    ],
    [
      'a chunked body',
      '/',
      { method: 'POST', body: 'x', headers: [['Transfer-Encoding', 'chunked']] },
      'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n' +
        '1\r\nx\r\n0\r\n\r\n',
    ],
    [
      'values as they are, in UTF-8',
      '/',
      {
        headers: [
          ['x-e', ''],
          ['x-s', '  a  '],
          ['x-t', 'a\tb'],
          ['x-u', 'é'],
        ],
      },
      'GET / HTTP/1.1\r\nx-e: \r\nx-s:   a  \r\nx-t: a\tb\r\nx-u: \u00c3\u00a9\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n',
    ],
    [
      'methods as they are',
      '/',
      { method: 'get' },
      'get / HTTP/1.1\r\naccept: */*\r\nhost: 127.0.0.1:PORT\r\n\r\n',
    ],
  ])('%s', async (_, path, changes, expected) => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    const response = await ask(origin.url(path), changes);
    expect(await bodyText(response.body)).toBe('ok');
    expect(seen(origin)).toBe(expected);
    // A connection serves one request and ends with it.
    await origin.untilAlone();
  });

  it('a length that is not that of the body is not sent', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    await expect(ask(origin.url(), { body: 'x', headers: [['content-length', '2']] })).rejects.toThrow(
      `error sending request for url (${origin.url()})`,
    );
    expect(origin.accepted).toBe(0);
  });
});

describe('the response', () => {
  async function answerWith(bytes: string, end = false, changes: Changes = {}) {
    const origin = await startOrigin((_request, socket) => {
      socket.write(Buffer.from(bytes, 'latin1'));
      if (end) socket.end();
    });
    return ask(origin.url(), changes);
  }

  it('has names in lower case, repeats together, and no header that is not text', async () => {
    const { status, headers } = await answerWith(
      'HTTP/1.1 418 X\r\nX-A: 1\r\nX-B: 2\r\nx-a: 3\r\nX-U: caf\xe9\r\nX-T: a\tb\r\nX-E: \r\nX-S:   a b  \r\n' +
        'content-length: 0\r\n\r\n',
    );
    expect(status).toBe(418);
    expect(headers).toEqual([
      ['x-a', '1'],
      ['x-a', '3'],
      ['x-b', '2'],
      ['x-t', 'a\tb'],
      ['x-e', ''],
      ['x-s', 'a b'],
      ['content-length', '0'],
    ]);
  });

  it.each([
    ['of a length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', false],
    ['of a length, with more behind it', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokEXTRA', false],
    [
      'in chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n',
      false,
    ],
    ['until the end', 'HTTP/1.1 200 OK\r\n\r\nok', true],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nok', true],
    ['after hints', 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', false],
    [
      'that claims to be compressed',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok',
      false,
    ],
  ])('has a body %s', async (_, bytes, end) => {
    const { body } = await answerWith(bytes, end);
    expect(await bodyText(body)).toBe('ok');
  });

  it.each([
    ['to HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n', 'HEAD', 200],
    [
      'of a switched connection',
      'HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nrest',
      'GET',
      101,
    ],
    ['to CONNECT', 'HTTP/1.1 200 OK\r\n\r\nrest', 'CONNECT', 200],
  ])('%s has no body', async (_, bytes, method, expected) => {
    const { status, body } = await answerWith(bytes, false, { method });
    expect([status, await bodyText(body)]).toEqual([expected, '']);
  });

  it.each([
    ['a short body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart', true],
    ['chunks without an end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n', true],
    ['a chunk of no size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n', false],
  ])('with %s breaks off', async (_, bytes, end) => {
    const { body } = await answerWith(bytes, end);
    await expect(bodyText(body)).rejects.toThrow();
  });

  it.each([
    ['nothing', '', true],
    ['half a head', 'HTTP/1.1 200 OK\r\nx-a', true],
    ['something else', 'garbage\r\n\r\n', false],
    ['a status of two digits', 'HTTP/1.1 099 Odd\r\ncontent-length: 2\r\n\r\nok', false],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok', false],
  ])('that is %s is an error', async (_, bytes, end) => {
    await expect(answerWith(bytes, end)).rejects.toThrow('error sending request for url (http://127.0.0.1:');
  });

  it('has a head of limited size', async () => {
    const origin = await startOrigin((request, socket) =>
      respond(socket, '', `x-big: ${'a'.repeat(Number(pathOf(request).slice(1)))}\r\n`),
    );
    // What the parser counts beside the value is its own business, so the limit is met from both sides.
    const { headers } = await ask(origin.url(`/${MAX_RESPONSE_HEAD_BYTES - 1024}`));
    expect(headers[0]?.[1]).toHaveLength(MAX_RESPONSE_HEAD_BYTES - 1024);
    await expect(ask(origin.url(`/${MAX_RESPONSE_HEAD_BYTES + 1}`))).rejects.toThrow('error sending request');
  });

  it('may have many headers', async () => {
    const many = Array.from({ length: 3000 }, (_, index) => `x-${index}: 1\r\n`).join('');
    const origin = await startOrigin((_request, socket) => respond(socket, '', many));
    expect((await ask(origin.url())).headers).toHaveLength(3001);
  });

  it('that comes before the request was sent is read all the same', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      respond(socket, 'too much', 'connection: close\r\n', '413 Too Large');
      socket.pause();
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const response = await ask(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: 'x'.repeat(16 * 1024 * 1024),
    });
    expect([response.status, await bodyText(response.body)]).toEqual([413, 'too much']);
  });

  it('that is discarded ends its connection', async () => {
    const origin = await startOrigin((_request, socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'),
    );
    (await ask(origin.url())).discard();
    await origin.untilAlone();
  });
});
