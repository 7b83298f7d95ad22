import type { InProcessWire, WireMessage } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import type { ExecServerOptions, Logger } from '../../../src/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { type Origin, pathOf, redirect, respond, startOrigin } from '../../support/origin.js';
import { openServer, openSession } from '../../support/session.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A server that knows nothing of the proxies of the machine that tests run on. */
async function connect(options: ExecServerOptions = {}) {
  const server = openServer({ env: {}, ...options });
  return { server, wire: await openSession(server) };
}

function requestParams(url: string, changes: object = {}): object {
  return { method: 'GET', url, requestId: 'r', ...changes };
}

function fetchUrl(wire: InProcessWire, url: string, changes: object = {}): Promise<WireMessage> {
  return wire.request('http/request', requestParams(url, changes));
}

const stream = (requestId: string, changes: object = {}) => ({ streamResponse: true, requestId, ...changes });

const isDelta = (requestId: string) => (message: WireMessage) =>
  message.method === 'http/request/bodyDelta' && message.params?.requestId === requestId;

function bodyText(message: WireMessage): string {
  return Buffer.from(message.result?.bodyBase64 as string, 'base64').toString('latin1');
}

/** Every delta of a stream until the last one. */
async function untilDone(wire: InProcessWire, requestId: string) {
  const deltas: Record<string, unknown>[] = [];
  for (;;) {
    const { params = {} } = await wire.next(isDelta(requestId), `a delta of ${requestId}`);
    deltas.push(params);
    if (params.done === true) break;
  }
  const body = Buffer.concat(deltas.map(({ deltaBase64 }) => Buffer.from(deltaBase64 as string, 'base64')));
  return { deltas, body, error: deltas.at(-1)?.error };
}

/** Sends a head and then nothing. */
function startSlowBody(): Promise<Origin> {
  return startOrigin((_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart');
  });
}

/** Sends a head and half of the body, and ends. */
function startDyingBody(): Promise<Origin> {
  return startOrigin((_request, socket) => {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart');
  });
}

describe('a buffered request', () => {
  it('is answered with status, headers and body', async () => {
    const origin = await startOrigin((_request, socket) =>
      respond(socket, '\xff\x00', 'X-A: 1\r\nX-A: 2\r\n'),
    );
    const { wire } = await connect();
    expect((await fetchUrl(wire, origin.url())).result).toEqual({
      status: 200,
      headers: [
        { name: 'x-a', value: '1' },
        { name: 'x-a', value: '2' },
        { name: 'content-length', value: '2' },
      ],
      bodyBase64: '/wA=',
    });
  });

  it('sends a body, and headers from variables of the server', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    const { wire } = await connect({ env: { TOKEN: 'secret' } });
    await fetchUrl(wire, origin.url(), {
      method: 'POST',
      bodyBase64: 'eHl6',
      headers: [{ name: 'Authorization', value: 'Bearer ', valueEnvVar: 'TOKEN' }],
    });
    expect(origin.requests[0]).toBe(
      `POST / HTTP/1.1\r\nauthorization: Bearer secret\r\naccept: */*\r\nhost: 127.0.0.1:${origin.port}\r\n` +
        'content-length: 3\r\n\r\nxyz',
    );
  });

  it('follows redirects, or stops at the first', async () => {
    const origin = await startOrigin((request, socket) =>
      pathOf(request) === '/' ? redirect(socket, 302, '/next') : respond(socket, 'next'),
    );
    const { wire } = await connect();
    expect(bodyText(await fetchUrl(wire, origin.url()))).toBe('next');
    expect((await fetchUrl(wire, origin.url(), { redirectPolicy: 'stop' })).result?.status).toBe(302);
  });

  it('may share its id with others', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    const { wire } = await connect();
    const answers = await Promise.all([fetchUrl(wire, origin.url()), fetchUrl(wire, origin.url())]);
    expect(answers.map(bodyText)).toEqual(['ok', 'ok']);
  });

  it('fails when the body breaks off', async () => {
    const origin = await startDyingBody();
    const { wire } = await connect();
    expect((await fetchUrl(wire, origin.url())).error).toMatchObject({
      code: -32603,
      message: 'failed to read http/request response body: error decoding response body',
    });
  });

  it.each([
    [99, true],
    [100, true],
    [101, false],
  ])('with a body of %d bytes fits into 100: %s', async (length, fits) => {
    const origin = await startOrigin((_request, socket) => respond(socket, 'x'.repeat(length)));
    const { wire } = await connect({ httpBufferedBytes: 100 });
    const { result, error } = await fetchUrl(wire, origin.url());
    expect(result !== undefined).toBe(fits);
    if (!fits)
      expect(error).toMatchObject({
        code: -32603,
        message:
          'failed to read http/request response body: response bodies exceed the limit of 100 buffered bytes',
      });
    // What was collected is given back with the answer.
    const small = await startOrigin((_request, socket) => respond(socket, 'x'.repeat(100)));
    expect(bodyText(await fetchUrl(wire, small.url()))).toHaveLength(100);
  });
});

describe('a streamed request', () => {
  it('is answered before its body comes, in numbered pieces with one end', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket, 'x'.repeat(200_000)));
    const { wire } = await connect();
    const { result } = await fetchUrl(wire, origin.url(), stream('s'));
    expect(result).toEqual({
      status: 200,
      headers: [{ name: 'content-length', value: '200000' }],
      bodyBase64: '',
    });
    const { deltas, body } = await untilDone(wire, 's');
    expect(body).toHaveLength(200_000);
    expect(deltas.map(({ seq }) => seq)).toEqual(deltas.map((_, index) => index + 1));
    expect(deltas.slice(0, -1).every(({ done, error }) => done === false && error === null)).toBe(true);
    expect(deltas.at(-1)).toEqual({
      requestId: 's',
      seq: deltas.length,
      deltaBase64: '',
      done: true,
      error: null,
    });
    const answer = wire.received.findIndex((message) => message.result?.status === 200);
    expect(wire.received.findIndex(isDelta('s'))).toBe(answer + 1);
  });

  it('with an empty body has the end only', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket, ''));
    const { wire } = await connect();
    await fetchUrl(wire, origin.url(), stream('s'));
    expect((await untilDone(wire, 's')).deltas).toEqual([
      { requestId: 's', seq: 1, deltaBase64: '', done: true, error: null },
    ]);
  });

  it('may have any text as its id', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    const { wire } = await connect();
    for (const id of ['', '"\\\n', 'ünïcødé \u{1f600}']) {
      await fetchUrl(wire, origin.url(), stream(id));
      expect((await untilDone(wire, id)).body.toString()).toBe('ok');
    }
  });

  it.each([
    ['a length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n'],
  ])('ends with an error when a body with %s breaks off', async (_, bytes) => {
    const origin = await startOrigin((_request, socket) => socket.end(bytes));
    const { wire } = await connect();
    expect((await fetchUrl(wire, origin.url(), stream('s'))).result?.status).toBe(200);
    const { error } = await untilDone(wire, 's');
    expect(error).toBe('error decoding response body');
  });

  it('keeps its id to itself until the end', async () => {
    const origin = await startOrigin((request, socket) => {
      if (pathOf(request) === '/dies') socket.destroy();
      else if (pathOf(request) === '/') respond(socket);
    });
    const { wire } = await connect();
    const waiting = fetchUrl(wire, origin.url('/waits'), stream('dup'));
    await origin.untilAsked(1);
    expect((await fetchUrl(wire, origin.url(), stream('dup'))).error).toMatchObject({
      code: -32602,
      message: 'http/request streamResponse requestId `dup` is already active',
    });
    expect((await wire.request('http/cancel', { requestId: 'dup' })).result).toEqual({ cancelled: true });
    expect((await waiting).error?.code).toBe(-32603);
    // A request that failed has given its id back, as has one that is over.
    expect((await fetchUrl(wire, origin.url('/dies'), stream('dup'))).error?.code).toBe(-32603);
    for (let round = 0; round < 2; round++) {
      expect((await fetchUrl(wire, origin.url(), stream('dup'))).result?.status).toBe(200);
      await untilDone(wire, 'dup');
    }
  });

  it('belongs to its connection', async () => {
    const origin = await startSlowBody();
    const { server, wire } = await connect();
    const other = await openSession(server);
    for (const client of [wire, other])
      expect((await fetchUrl(client, origin.url(), stream('same'))).result?.status).toBe(200);
    expect((await other.request('http/cancel', { requestId: 'same' })).result).toEqual({ cancelled: true });
    await untilDone(other, 'same');
    expect((await wire.request('http/cancel', { requestId: 'same' })).result).toEqual({ cancelled: true });
  });

  it('ends with its connection', async () => {
    const origin = await startSlowBody();
    const { wire } = await connect();
    await fetchUrl(wire, origin.url(), stream('s'));
    void fetchUrl(wire, origin.url()).catch(() => {});
    await origin.untilAsked(2);
    await wire.close();
    await origin.untilAlone();
  });

  it('ends with the server', async () => {
    const origin = await startSlowBody();
    const { server, wire } = await connect();
    await fetchUrl(wire, origin.url(), stream('s'));
    await server.close();
    await origin.untilAlone();
  });
});

describe('bad input', () => {
  it.each([
    [{ method: 'G T' }, 'http/request method is invalid: invalid HTTP method'],
    [{ url: 'ftp://x/' }, 'http/request only supports http and https URLs, got ftp'],
    [{ url: 'x' }, 'http/request url is invalid: relative URL without a base'],
    [
      { headers: [{ name: 'a b', value: '' }] },
      'http/request header name is invalid: invalid HTTP header name',
    ],
    [
      { headers: [{ name: 'X', value: 'a\r\nb: c' }] },
      'http/request header value is invalid for X: failed to parse header value',
    ],
    [
      { headers: [{ name: 'X', value: '', valueEnvVar: 'NONE' }] },
      'http/request header X requires executor environment variable NONE',
    ],
    [
      { headers: [{ name: 'X', value: '', valueEnvVar: 'OPENAI_API_KEY' }] },
      'http/request header X cannot use executor environment variable OPENAI_API_KEY',
    ],
    [{ bodyBase64: '***' }, 'Invalid symbol 42, offset 0.'],
  ])('%j costs one error', async (changes, message) => {
    const { wire } = await connect({ env: { OPENAI_API_KEY: 'key' } });
    const params = requestParams('http://127.0.0.1:1/', changes);
    for (const streamResponse of [false, true])
      expect((await wire.request('http/request', { ...params, streamResponse })).error).toMatchObject({
        code: -32602,
        message,
      });
  });

  it.each([
    [3, undefined],
    [4, -32001],
  ])('request %d of 3 at once is answered with %s', async (count, code) => {
    const origin = await startSlowBody();
    const { wire } = await connect({ httpRequests: 3 });
    let last: WireMessage | undefined;
    for (let n = 1; n <= count; n++) last = await fetchUrl(wire, origin.url(), stream(`s${n}`));
    expect(last?.error?.code).toBe(code);
  });
});

describe('a timeout', () => {
  it.each([false, true])('of none fails at once (streamed: %s)', async (streamResponse) => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    const { wire } = await connect();
    const { error } = await fetchUrl(wire, origin.url(), { timeoutMs: 0, streamResponse });
    expect(error).toMatchObject({
      code: -32603,
      message: 'http/request failed: route-aware request timed out',
    });
    expect(origin.accepted).toBe(0);
  });

  it.each([false, true])('covers the wait for the head (streamed: %s)', async (streamResponse) => {
    const clock = new FakeClock();
    const origin = await startOrigin(() => {});
    const { wire } = await connect({ clock });
    const answer = fetchUrl(wire, origin.url(), { timeoutMs: 1000, streamResponse });
    await origin.untilAsked(1);
    clock.advance(1000);
    expect((await answer).error).toMatchObject({
      code: -32603,
      message: `http/request failed: error sending request for url (${origin.url()})`,
    });
    await origin.untilAlone();
  });

  it('covers the body of a buffered request', async () => {
    const clock = new FakeClock();
    const slow = await startSlowBody();
    const { wire } = await connect({ clock });
    const answer = fetchUrl(wire, slow.url(), { timeoutMs: 1000 });
    await slow.untilAsked(1);
    // A stream that was asked for later has its head, so this one had the time for its own.
    await fetchUrl(wire, slow.url(), stream('s'));
    clock.advance(1000);
    expect((await answer).error?.code).toBe(-32603);
    await wire.request('http/cancel', { requestId: 's' });
    await slow.untilAlone();
  });

  it('covers the body of a stream', async () => {
    const clock = new FakeClock();
    const origin = await startSlowBody();
    const { wire } = await connect({ clock });
    expect((await fetchUrl(wire, origin.url(), stream('s', { timeoutMs: 1000 }))).result?.status).toBe(200);
    await wire.next(isDelta('s'), 'the first part');
    clock.advance(1000);
    expect((await untilDone(wire, 's')).error).toBe('error decoding response body');
    await origin.untilAlone();
  });
});

describe('http/cancel', () => {
  it.each([false, true])('ends the wait for the head (streamed: %s)', async (streamResponse) => {
    const origin = await startOrigin(() => {});
    const { wire } = await connect();
    const answer = fetchUrl(wire, origin.url(), { streamResponse });
    await origin.untilAsked(1);
    expect((await wire.request('http/cancel', { requestId: 'r' })).result).toEqual({ cancelled: true });
    expect((await answer).error).toMatchObject({
      code: -32603,
      message: 'http/request failed: request cancelled',
    });
    await origin.untilAlone();
    expect(wire.received.some(isDelta('r'))).toBe(false);
  });

  it('ends a buffered body', async () => {
    const origin = await startSlowBody();
    const { wire } = await connect();
    const answer = fetchUrl(wire, origin.url());
    await origin.untilAsked(1);
    await fetchUrl(wire, origin.url(), stream('s'));
    expect((await wire.request('http/cancel', { requestId: 'r' })).result).toEqual({ cancelled: true });
    expect((await answer).error?.message).toBe('http/request failed: request cancelled');
  });

  it('ends a stream with an error', async () => {
    const origin = await startSlowBody();
    const { wire } = await connect();
    await fetchUrl(wire, origin.url(), stream('s'));
    await wire.next(isDelta('s'), 'the first part');
    expect((await wire.request('http/cancel', { requestId: 's' })).result).toEqual({ cancelled: true });
    expect((await untilDone(wire, 's')).deltas).toEqual([
      { requestId: 's', seq: 2, deltaBase64: '', done: true, error: 'request cancelled' },
    ]);
    await origin.untilAlone();
  });

  it('of something that is over or never was finds nothing', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    const { wire } = await connect();
    await fetchUrl(wire, origin.url(), stream('s'));
    await untilDone(wire, 's');
    for (const requestId of ['s', 'never'])
      expect((await wire.request('http/cancel', { requestId })).result).toEqual({ cancelled: false });
  });
});

describe('load', () => {
  /** Sends as much as it is let. */
  async function startTorrent(bytes: number) {
    let sent = 0;
    const block = Buffer.alloc(64 * KIB, 'x');
    const origin = await startOrigin((_request, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`);
      const pour = () => {
        while (sent < bytes) {
          sent += block.length;
          if (!socket.write(block)) {
            socket.once('drain', pour);
            return;
          }
        }
      };
      pour();
    });
    return { origin, sent: () => sent };
  }

  it('of a stream waits for a client that does not read, and holds up nobody else', async () => {
    // Far more than the buffers of the system hold.
    const total = 64 * MIB;
    const torrent = await startTorrent(total);
    const { server, wire } = await connect();
    expect((await fetchUrl(wire, torrent.origin.url(), stream('big'))).result?.status).toBe(200);
    wire.pause();

    const origin = await startOrigin((_request, socket) => respond(socket, 'x'.repeat(300_000)));
    const other = await openSession(server);
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const bodies = await Promise.all(
      ids.map(async (id) => {
        await fetchUrl(other, origin.url(), stream(id));
        return untilDone(other, id);
      }),
    );
    expect(bodies.map(({ body, error }) => [body.length, error])).toEqual(ids.map(() => [300_000, null]));

    expect(torrent.sent()).toBeLessThan(total);
    wire.resume();
    expect((await untilDone(wire, 'big')).body).toHaveLength(total);
  });

  it('of requests that wait does not fill the lane', async () => {
    const origin = await startOrigin(() => {});
    const { wire } = await connect({ concurrentRequests: 1 });
    for (let n = 0; n < 5; n++) void fetchUrl(wire, origin.url()).catch(() => {});
    await origin.untilAsked(5);
    const quick = await startOrigin((_request, socket) => respond(socket));
    expect(bodyText(await fetchUrl(wire, quick.url()))).toBe('ok');
    await wire.close();
  });
});

it('logs nothing of a request', async () => {
  const logged: unknown[] = [];
  const note = (...what: unknown[]) => void logged.push(what);
  const logger: Logger = {
    error: note,
    warn: note,
    info: note,
    debug: note,
    trace: note,
    child: () => logger,
  } as unknown as Logger;
  const origin = await startDyingBody();
  const { wire } = await connect({ logger, env: { TOKEN: 'secret-value' } });
  const headers = [{ name: 'x-secret-name', value: 'secret-value', valueEnvVar: 'TOKEN' }];
  const bodyBase64 = Buffer.from('secret-body').toString('base64');
  for (const url of [origin.url('/secret-path'), 'http://127.0.0.1:1/secret-path', 'secret-url'])
    await fetchUrl(wire, url, { headers, bodyBase64, method: 'POST' });
  await fetchUrl(wire, origin.url('/secret-path'), stream('s'));
  await untilDone(wire, 's');
  expect(
    JSON.stringify(logged, (_, value: unknown) => (value instanceof Error ? value.stack : value)),
  ).not.toMatch(/secret|127\.0\.0\.1/);
});
