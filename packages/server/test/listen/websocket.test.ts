import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { AuthOutcome, AuthPolicy } from '../../src/listen/auth.js';
import { createCapabilityTokenPolicy, sha256 } from '../../src/listen/capability-token.js';
import type { ListenOptions } from '../../src/listen/listen-options.js';
import type { Listener } from '../../src/listen/listener.js';
import { openListener } from '../../src/listen/open-listener.js';
import { FakeClock } from '../support/fake-clock.js';
import { createEcho, formatHeaders, openTcp, sendRaw, UPGRADE_HEADERS } from './support.js';
import { TEST_CERTIFICATE, TEST_KEY } from './tls-fixture.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(options: ListenOptions = {}, url = 'ws://127.0.0.1:0', echo = createEcho()) {
  const listener = await openListener(url, options, echo.accept);
  cleanups.push(() => listener.close());
  return { ...echo, listener };
}

async function openSocket(listener: Listener, options: ClientOptions = {}, protocols: string[] = []) {
  const socket = new WebSocket(listener.url, protocols, options);
  cleanups.push(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

async function echoOf(socket: WebSocket, text: string): Promise<string> {
  socket.send(text);
  const [data] = await once(socket, 'message');
  return String(data);
}

describe('connections', () => {
  it.each([
    ['ws://127.0.0.1:0', /^ws:\/\/127\.0\.0\.1:[1-9]\d*$/],
    ['ws://[::1]:0', /^ws:\/\/\[::1\]:[1-9]\d*$/],
  ])('are taken at %s', async (url, bound) => {
    const { listener, connections, labels } = await listen({}, url);
    expect(listener.url).toMatch(bound);
    const socket = await openSocket(listener);
    expect(await echoOf(socket, '{"id":1}')).toBe('{"id":1}');
    expect(connections).toEqual([
      expect.objectContaining({
        principal: { kind: 'anonymous' },
        remote: expect.any(String),
        resumable: true,
      }),
    ]);
    expect(labels).toEqual([`exec-server websocket ${connections[0]?.remote}`]);
    expect(connections[0]?.remote).toMatch(/^(127\.0\.0\.1|\[::1\]):\d+$/);
  });

  it('go on when the listener is closed, and no others come', async () => {
    const { listener } = await listen();
    const socket = await openSocket(listener);
    await listener.close();
    await listener.ended;
    expect(await echoOf(socket, 'still here')).toBe('still here');
    await expect(openSocket(listener)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('that are no WebSocket yet end with the listener', async () => {
    const { listener } = await listen();
    const idle = await openTcp(listener.url);
    await sendRaw(listener.url, { path: '/readyz' });
    const closed = once(idle, 'close');
    await listener.close();
    await closed;
  });

  it('take TLS', async () => {
    const { listener, connections } = await listen(
      { tls: { cert: TEST_CERTIFICATE, key: TEST_KEY }, http: { maxPendingConnections: 1 } },
      'wss://127.0.0.1:0',
    );
    expect(listener.url).toMatch(/^wss:/);
    const socket = await openSocket(listener, { ca: TEST_CERTIFICATE });
    expect(await echoOf(socket, 'x')).toBe('x');
    await openSocket(listener, { ca: TEST_CERTIFICATE });
    // One connection at a time may be no WebSocket yet, so the first still counted would have been ended.
    expect(await echoOf(socket, 'y')).toBe('y');
    expect(connections).toHaveLength(2);
  });

  it.each(['ws', 'wss'])(
    'over %s are refused where only the WebSocket library finds fault',
    async (scheme) => {
      const tls = scheme === 'wss' ? { tls: { cert: TEST_CERTIFICATE, key: TEST_KEY } } : {};
      const { listener, connections } = await listen(tls, `${scheme}://127.0.0.1:0`);
      const headers = { 'sec-websocket-protocol': 'twice, twice' };
      const refused = openSocket(listener, { ca: TEST_CERTIFICATE, headers });
      await expect(refused).rejects.toThrow('Unexpected server response: 400');
      expect(connections).toEqual([]);
      // It lives.
      expect(await echoOf(await openSocket(listener, { ca: TEST_CERTIFICATE }), 'x')).toBe('x');
    },
  );
});

describe('refusals to listen', () => {
  it('names an address in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    cleanups.push(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(listen({}, `ws://127.0.0.1:${port}`)).rejects.toMatchObject({
      code: 'bind_failed',
      message: `cannot listen on ws://127.0.0.1:${port}: Address in use (os error 98)`,
    });
  });

  it('names an address that is not ours', async () => {
    await expect(listen({ allowUnauthenticated: true }, 'ws://192.0.2.1:0')).rejects.toMatchObject({
      code: 'bind_failed',
      message: 'cannot listen on ws://192.0.2.1:0: Address not available (os error 99)',
    });
  });

  it('wants authentication off loopback', async () => {
    await expect(listen({}, 'ws://0.0.0.0:0')).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringContaining('--allow-unauthenticated'),
    });
    const auth = createCapabilityTokenPolicy(sha256('tok'));
    expect((await listen({ auth }, 'ws://0.0.0.0:0')).listener.url).toMatch(/^ws:\/\/0\.0\.0\.0:/);
    expect((await listen({ allowUnauthenticated: true }, 'ws://[::]:0')).listener.url).toMatch(
      /^ws:\/\/\[::\]:/,
    );
  });

  it('wants a certificate for wss, and a usable one', async () => {
    await expect(listen({}, 'wss://127.0.0.1:0')).rejects.toMatchObject({
      code: 'unsupported_url',
      message: expect.stringContaining(
        'unsupported --listen URL `wss://127.0.0.1:0`; expected `ws://IP:PORT`',
      ),
    });
    await expect(listen({ tls: { cert: 'x', key: 'y' } }, 'wss://127.0.0.1:0')).rejects.toMatchObject({
      code: 'unusable_secret',
    });
  });
});

describe('authentication', () => {
  const auth = createCapabilityTokenPolicy(sha256('s3cret'));

  it.each([
    [{}, 'missing websocket bearer token'],
    [{ Authorization: 'Bearer nope' }, 'invalid websocket bearer token'],
    [{ Authorization: 'Basic s3cret' }, 'invalid authorization header'],
    [{ Authorization: 'Bearer' }, 'invalid authorization header'],
  ])('%j is answered with 401', async (headers, body) => {
    const { listener, connections } = await listen({ auth });
    const response = await sendRaw(listener.url, { headers: { ...UPGRADE_HEADERS, ...headers } });
    expect(response).toMatchObject({ status: 401, body });
    expect(response.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(connections).toEqual([]);
  });

  it('comes after the other checks, and leaves the probes alone', async () => {
    const { listener } = await listen({ auth });
    expect(await sendRaw(listener.url, { path: '/readyz' })).toMatchObject({ status: 200 });
    expect(await sendRaw(listener.url, { path: '/x', headers: UPGRADE_HEADERS })).toMatchObject({
      status: 404,
    });
    expect(await sendRaw(listener.url)).toMatchObject({ status: 400 });
    expect(await sendRaw(listener.url, { method: 'POST' })).toMatchObject({ status: 405 });
  });

  it('takes no token from the query', async () => {
    const { listener } = await listen({ auth });
    const path = '/?token=s3cret&access_token=s3cret';
    expect(await sendRaw(listener.url, { path, headers: UPGRADE_HEADERS })).toMatchObject({ status: 401 });
  });

  it('names the principal', async () => {
    const { listener, connections } = await listen({ auth });
    await openSocket(listener, { headers: { Authorization: 'bearer s3cret' } });
    expect(connections).toMatchObject([{ principal: { kind: 'capability-token' } }]);
  });

  it('lets a browser in by subprotocol and does not send its token back', async () => {
    const { listener, connections } = await listen({ auth, allowedOrigins: ['https://app.example'] });
    const bearer = `exec-server.bearer.${Buffer.from('s3cret').toString('base64url')}`;
    const socket = await openSocket(listener, { origin: 'https://app.example' }, ['exec-server', bearer]);
    expect(socket.protocol).toBe('exec-server');
    expect(connections).toMatchObject([{ principal: { kind: 'capability-token' } }]);
  });

  it('survives a client that leaves while its token is looked at', async () => {
    let tellAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      tellAsked = resolve;
    });
    let answer: (outcome: AuthOutcome) => void = () => {};
    const slow: AuthPolicy = {
      authenticate() {
        tellAsked();
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    };
    const { listener, connections } = await listen({ auth: slow });
    const client = await openTcp(listener.url);
    const headers = { Host: '127.0.0.1', ...UPGRADE_HEADERS, Authorization: 'Bearer x' };
    client.write(`GET / HTTP/1.1\r\n${formatHeaders(headers)}\r\n`);
    await asked;
    const gone = once(client, 'close');
    await listener.close();
    await gone;
    answer({ accepted: true, principal: { kind: 'custom', subject: 'late' } });
    expect(connections).toEqual([]);
  });
});

describe('limits', () => {
  it('ends a connection that sends no request', async () => {
    const { listener } = await listen({ http: { headerTimeoutMs: 50 } });
    const socket = await openTcp(listener.url);
    socket.resume();
    await once(socket, 'close');
  });

  it('ends a connection whose request has no end', async () => {
    const { listener } = await listen({
      http: { headerTimeoutMs: 20, requestTimeoutMs: 50, idleTimeoutMs: 600_000 },
    });
    const socket = await openTcp(listener.url);
    socket.write('POST /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
  });

  it('ends a connection that has nothing more to ask', async () => {
    const { listener } = await listen({ http: { idleTimeoutMs: 20 } });
    const socket = await openTcp(listener.url);
    socket.write(`GET /readyz HTTP/1.1\r\nHost: ${new URL(listener.url).host}\r\n\r\n`);
    socket.resume();
    await once(socket, 'close');
  });

  it.each([
    [2047, 200],
    [2048, 431],
    [2049, 431],
  ])('of a request head of %d bytes answers %d', async (bytes, status) => {
    const { listener } = await listen({ http: { maxHeaderBytes: 2048 } });
    // What Node counts: the target, and each header's name and value.
    const fixed = Buffer.byteLength(`/readyzHost${new URL(listener.url).host}X`);
    const headers = { X: 'a'.repeat(bytes - fixed) };
    expect(await sendRaw(listener.url, { path: '/readyz', headers })).toMatchObject({ status });
  });

  it('ends the oldest connection that is no WebSocket when there are too many', async () => {
    const { listener } = await listen({ http: { maxPendingConnections: 2 } });
    // Upgraded ones do not count.
    const upgraded = await openSocket(listener);
    const first = await openTcp(listener.url);
    const second = await openTcp(listener.url);
    const ended: string[] = [];
    first.on('close', () => ended.push('first'));
    second.on('close', () => ended.push('second'));
    const firstClosed = once(first.resume(), 'close');
    expect(await sendRaw(listener.url, { path: '/readyz' })).toMatchObject({ status: 200 });
    await firstClosed;
    expect(ended).toEqual(['first']);
    expect(await echoOf(upgraded, 'x')).toBe('x');
    second.destroy();
  });

  it.each([
    [64 * 1024 * 1024 - 1, true],
    [64 * 1024 * 1024, true],
    [64 * 1024 * 1024 + 1, false],
  ])('a message of %d bytes is taken: %s', async (bytes, isTaken) => {
    let received: number | undefined;
    let tellDone: (reason?: string) => void = () => {};
    const done = new Promise<string | undefined>((resolve) => {
      tellDone = resolve;
    });
    const listener = await openListener('ws://127.0.0.1:0', {}, (transport) => {
      transport.open({
        onMessage: (text) => {
          received = text.length;
          tellDone();
        },
        onMalformed() {},
        onDrain() {},
        onClose: (reason) => tellDone(reason),
      });
    });
    cleanups.push(() => listener.close());
    const socket = await openSocket(listener);
    socket.on('error', () => {});
    socket.send('x'.repeat(bytes));
    const reason = await done;
    expect(received).toBe(isTaken ? bytes : undefined);
    if (!isTaken) expect(reason).toBe('message exceeds the limit of 67108864 bytes');
  });
});

describe('keep-alive', () => {
  it('pings, and drops a peer that stays silent', async () => {
    const clock = new FakeClock();
    const { listener, closed } = await listen({ clock });
    const socket = await openSocket(listener, { autoPong: false });
    for (let ping = 0; ping < 2; ping += 1) {
      const pinged = once(socket, 'ping');
      clock.advance(30_000);
      expect(String((await pinged)[0])).toBe('');
    }
    clock.advance(30_000);
    expect(await closed).toBe('the peer did not answer 2 pings');
  });

  it('keeps a peer that answers', async () => {
    const clock = new FakeClock();
    const { listener } = await listen({ clock });
    const socket = await openSocket(listener);
    for (let ping = 0; ping < 5; ping += 1) {
      const pinged = once(socket, 'ping');
      clock.advance(30_000);
      await pinged;
      // Our pong travels ahead of this message on the same connection.
      await echoOf(socket, 'x');
    }
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  it('drops a peer that reads nothing for ten minutes, and stops its timer', async () => {
    const clock = new FakeClock();
    let flood: () => void = () => {};
    let tellClosed: (reason: string | undefined) => void = () => {};
    const closed = new Promise<string | undefined>((resolve) => {
      tellClosed = resolve;
    });
    const listener = await openListener('ws://127.0.0.1:0', { clock }, (transport) => {
      flood = () => transport.send('x'.repeat(64 * 1024 * 1024));
      transport.open({
        onMessage() {},
        onMalformed() {},
        onDrain() {},
        onClose: (reason) => tellClosed(reason),
      });
    });
    cleanups.push(() => listener.close());
    const tcp = await openTcp(listener.url);
    cleanups.push(() => tcp.destroy());
    tcp.write(`GET / HTTP/1.1\r\n${formatHeaders({ Host: '127.0.0.1', ...UPGRADE_HEADERS })}\r\n`);
    await once(tcp, 'data');
    tcp.pause();
    flood();
    for (let minute = 0; minute < 10; minute += 1) clock.advance(60_000);
    clock.advance(30_000);
    expect(await closed).toBe('the peer has read nothing for 600 seconds');
    expect(clock.pendingTimers).toBe(0);
  });
});
