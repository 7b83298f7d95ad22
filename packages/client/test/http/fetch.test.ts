import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFetch, type FetchOptions } from '../../src/http/fetch.js';
import { MAX_REQUEST_BODY_BYTES } from '../../src/http/request-body.js';
import { failureOf, openFiles } from '../support/files.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on this machine. */
async function serve(handle: Handler): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function open(handle: Handler, ...options: Parameters<typeof openFiles>) {
  const files = await openFiles(...options);
  return { ...files, fetch: createFetch(files.client), origin: await serve(handle) };
}

/** Answers with what was asked. */
const echo: Handler = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') }));
  });
};

describe('a request', () => {
  it('is a GET with a real Response', async () => {
    const { fetch, origin } = await open(echo);
    const response = await fetch(`${origin}/path?q=1#fragment`);
    expect(response).toBeInstanceOf(Response);
    expect(response).toMatchObject({ status: 200, ok: true, redirected: false, url: `${origin}/path?q=1` });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.clone().url).toBe(`${origin}/path?q=1`);
    expect(await response.json()).toMatchObject({ method: 'GET', url: '/path?q=1', body: '' });
  });

  it.each([
    ['text', 'grün', 'text/plain;charset=UTF-8', Buffer.from('grün').toString('latin1')],
    ['bytes', Uint8Array.of(0, 255), undefined, '\x00\xff'],
    ['a form', new URLSearchParams({ a: '1 2' }), 'application/x-www-form-urlencoded;charset=UTF-8', 'a=1+2'],
    ['a blob', new Blob(['{}'], { type: 'application/json' }), 'application/json', '{}'],
    ['a stream', new Blob(['streamed']).stream(), undefined, 'streamed'],
  ])('takes %s as its body', async (_, body, type, sent) => {
    const { fetch, origin } = await open(echo);
    const response = await fetch(origin, { method: 'post', body });
    const seen = await response.json();
    expect(seen).toMatchObject({ method: 'POST', body: sent });
    expect(seen.headers['content-type']).toBe(type);
  });

  it('takes a Request, and options before its own', async () => {
    const { fetch, origin } = await open(echo);
    const request = new Request(`${origin}/r`, { method: 'PUT', body: 'x', headers: { 'x-a': '1' } });
    expect(await (await fetch(request)).json()).toMatchObject({
      method: 'PUT',
      url: '/r',
      body: 'x',
      headers: { 'x-a': '1' },
    });
    const other = new Request(`${origin}/r`, { headers: { 'x-a': '1' } });
    const changed = await fetch(other, { method: 'DELETE', headers: [['x-b', '2']] });
    expect((await changed.json()).headers).not.toHaveProperty('x-a');
  });

  it('keeps the repeats of its headers', async () => {
    const { fetch, origin } = await open((request, response) => response.end(request.rawHeaders.join('|')));
    const response = await fetch(origin, {
      headers: [
        ['x-b', '1'],
        ['x-a', '2'],
        ['x-b', '3'],
      ],
    });
    expect(await response.text()).toContain('x-b|1|x-b|3|x-a|2');
  });

  it('a body type that is given wins', async () => {
    const { fetch, origin } = await open(echo);
    const headers = { 'Content-Type': 'text/csv' };
    const response = await fetch(origin, { method: 'POST', body: 'a,b', headers });
    expect((await response.json()).headers['content-type']).toBe('text/csv');
  });

  it.each([
    ['no URL', 'nowhere', {}],
    ['another scheme', 'ftp://127.0.0.1/', {}],
    ['a body with GET', 'http://127.0.0.1/', { body: 'x' }],
    ['an unknown option', 'http://127.0.0.1/', { cache: 'no-store' }],
    ['a wrong redirect', 'http://127.0.0.1/', { redirect: 'sometimes' }],
    ['a wrong time', 'http://127.0.0.1/', { timeoutMs: -1 }],
    ['a wrong method', 'http://127.0.0.1/', { method: 'GE T' }],
  ])('refuses %s', async (_, url, options) => {
    const { fetch } = await open(echo);
    expect(await failureOf(fetch(url, options as FetchOptions))).toMatchObject({ code: 'usage' });
  });

  it.each([
    [MAX_REQUEST_BODY_BYTES, 'fits'],
    [MAX_REQUEST_BODY_BYTES + 1, 'is too large'],
  ])('a body of %i bytes %s', async (length, fits) => {
    const { fetch, origin } = await open((request, response) => {
      let received = 0;
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      request.on('end', () => response.end(String(received)));
    });
    const answer = fetch(origin, { method: 'POST', body: new Uint8Array(length) });
    if (fits === 'fits') expect(await (await answer).text()).toBe(String(length));
    else expect(await failureOf(answer)).toMatchObject({ code: 'usage' });
  });
});

describe('a response', () => {
  it('streams: what was sent comes before the rest is', async () => {
    let rest: ServerResponse | undefined;
    const { fetch, origin } = await open((_, response) => {
      response.write('first');
      rest = response;
    });
    const reader = (await fetch(origin)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
    rest?.end('second');
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('second');
    expect((await reader?.read())?.done).toBe(true);
  });

  it.each([204, 205, 304])('status %i has no body', async (status) => {
    const { fetch, origin } = await open((_, response) => response.writeHead(status).end());
    const response = await fetch(origin);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it.each([200, 299, 404, 500, 599])('status %i is a response', async (status) => {
    const { fetch, origin } = await open((_, response) => response.writeHead(status).end('body'));
    const response = await fetch(origin);
    expect([response.status, await response.text()]).toEqual([status, 'body']);
  });

  it('status 600 is none', async () => {
    const { fetch, origin } = await open((_, response) => response.writeHead(600).end('body'));
    expect(await failureOf(fetch(origin))).toMatchObject({ code: 'http' });
  });

  it('that breaks off is an error of its body', async () => {
    const { fetch, origin } = await open((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => response.destroy());
    });
    expect(await failureOf((await fetch(origin)).text())).toMatchObject({ code: 'http' });
  });

  it('is an error where nobody answers', async () => {
    const { fetch } = await open(echo);
    const gone = await serve(echo);
    const port = new URL(gone).port;
    expect(await failureOf(fetch(`http://127.0.0.2:${port}/`))).toMatchObject({
      code: 'http',
      rpcCode: -32603,
    });
  });

  it('comes in time, or not at all', async () => {
    const { fetch, origin } = await open((request, response) => {
      if (request.url === '/body') response.write('start');
    });
    expect(await failureOf(fetch(origin, { timeoutMs: 50 }))).toMatchObject({ code: 'http' });
    const slow = await fetch(`${origin}/body`, { timeoutMs: 500 });
    expect(await failureOf(slow.text())).toMatchObject({ code: 'http' });
  });
});

describe('redirects', () => {
  const redirecting: Handler = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://host');
    if (pathname === '/end') return echo(request, response);
    const left = Number(searchParams.get('left') ?? 0);
    const location = left > 0 ? `/hop?left=${left - 1}` : (searchParams.get('to') ?? '/end');
    response.writeHead(Number(searchParams.get('status') ?? 302), { location }).end('moved');
  };

  it('are followed, and the response says so', async () => {
    const { fetch, origin } = await open(redirecting);
    const response = await fetch(`${origin}/start?left=2`);
    expect(response).toMatchObject({ status: 200, redirected: true, url: `${origin}/end` });
  });

  it.each([
    [9, 200],
    [10, 'http'],
  ])('%i hops before the last: %s', async (left, outcome) => {
    const { fetch, origin } = await open(redirecting);
    const response = fetch(`${origin}/start?left=${left}`);
    if (typeof outcome === 'number') expect((await response).status).toBe(outcome);
    else expect(await failureOf(response)).toMatchObject({ code: outcome });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [302, 'PUT', 'PUT', 'body'],
    [307, 'POST', 'POST', 'body'],
    [308, 'POST', 'POST', 'body'],
  ])('%i of a %s is a %s', async (status, method, next, body) => {
    const { fetch, origin } = await open(redirecting);
    const response = await fetch(`${origin}/start?status=${status}`, {
      body: 'body',
      method: String(method),
    });
    const seen = await response.json();
    expect(seen).toMatchObject({ method: next, body });
    expect('content-type' in seen.headers).toBe(body !== '');
  });

  it('take no credentials to another origin', async () => {
    const elsewhere = await serve(echo);
    const { fetch, origin } = await open(redirecting);
    const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-kept': '1' };
    const to = encodeURIComponent(`${elsewhere}/end`);
    const away = await (await fetch(`${origin}/start?to=${to}`, { headers })).json();
    expect(away.headers).toMatchObject({ 'x-kept': '1' });
    expect(away.headers).not.toHaveProperty('authorization');
    expect(away.headers).not.toHaveProperty('cookie');
    const home = await (await fetch(`${origin}/start`, { headers })).json();
    expect(home.headers).toMatchObject(headers);
  });

  it('are left alone, or refused, where that is asked for', async () => {
    const { fetch, origin } = await open(redirecting);
    const response = await fetch(`${origin}/start`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location'), await response.text()]).toEqual([
      302,
      '/end',
      'moved',
    ]);
    expect(await failureOf(fetch(`${origin}/start`, { redirect: 'error' }))).toMatchObject({ code: 'http' });
  });

  it.each(['ftp://127.0.0.1/', 'http://[', 'file:///etc/passwd'])('to %s lead nowhere', async (to) => {
    const { fetch, origin } = await open(redirecting);
    const response = fetch(`${origin}/start?to=${encodeURIComponent(to)}`);
    expect(await failureOf(response)).toMatchObject({ code: 'http' });
  });
});

describe('an abort', () => {
  it('cancels a request that waits for its response', async () => {
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const abort = new AbortController();
    const { fetch, origin } = await open((_, response) => {
      response.on('close', closed);
      abort.abort(new Error('enough'));
    });
    await expect(fetch(origin, { signal: abort.signal })).rejects.toThrow('enough');
    await gone;
    await expect(fetch(origin, { signal: abort.signal })).rejects.toThrow('enough');
  });

  it.each(['signal', 'cancel'])('ends a body, by %s, and the request on the server', async (way) => {
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { fetch, origin } = await open((_, response) => {
      response.on('close', closed);
      response.write('start');
    });
    const abort = new AbortController();
    const response = await fetch(origin, { signal: abort.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    if (way === 'signal') {
      abort.abort(new Error('enough'));
      await expect(reader?.read()).rejects.toThrow('enough');
    } else await reader?.cancel();
    await gone;
  });
});

it('a body fails when its connection is lost, or its client closed', async () => {
  const { fetch, origin, dialer, client } = await open((_, response) => response.write('start'));
  const lost = failureOf((await fetch(origin)).text());
  dialer.cut();
  expect(await lost).toMatchObject({ code: 'connection_lost' });
  const closed = failureOf((await fetch(origin)).text());
  await client.close();
  expect(await closed).toMatchObject({ code: 'connection_lost' });
});
