import { encodeBase64, MAX_HTTP_DELTA_BYTES } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { MAX_QUEUED_BODY_BYTES, MAX_QUEUED_DELTAS } from '../../src/low-level/http-body.js';
import { type ScriptedServer, scriptAcceptingServer } from '../support/scripted-server.js';

const REQUEST = { method: 'GET', url: 'http://127.0.0.1/' };
const MIB = 1024 * 1024;

const delta = (requestId: string, seq: number, size: number, more: object = {}) => ({
  method: 'http/request/bodyDelta',
  params: {
    requestId,
    seq,
    deltaBase64: encodeBase64(new Uint8Array(size).fill(seq)),
    done: false,
    error: null,
    ...more,
  },
});
const end = (requestId: string, seq: number, error: string | null = null) =>
  delta(requestId, seq, 0, { done: true, error });

/** A server that answers every request with 200 and no body, then says what the test wants. */
async function connect(
  httpCancel = false,
  options: ConstructorParameters<typeof ExecServerClient>[1] = {},
): Promise<{ server: ScriptedServer; client: ExecServerClient }> {
  const environmentInfo = { shell: { name: 'sh', path: 'sh' }, capabilities: { httpCancel } };
  const server = scriptAcceptingServer({ sessionId: 's', environmentInfo }, ({ id, method }, { send }) => {
    if (method === 'http/request') send({ id, result: { status: 200, headers: [], bodyBase64: '' } });
    if (method === 'http/cancel') send({ id, result: { cancelled: true } });
    // What a client has sent last it has done everything for that came before.
    if (method === 'environment/status') send({ id, result: { status: 'ready' } });
  });
  return { server, client: await ExecServerClient.connect(server.transport, options) };
}

async function sizesOf(body: AsyncIterable<Uint8Array>): Promise<number[]> {
  const sizes: number[] = [];
  for await (const { length } of body) sizes.push(length);
  return sizes;
}

/** What came of a body, and what it failed with. */
async function drain(body: AsyncIterable<Uint8Array>): Promise<{ bytes: number; error: unknown }> {
  let bytes = 0;
  try {
    for await (const { length } of body) bytes += length;
    return { bytes, error: undefined };
  } catch (error) {
    return { bytes, error };
  }
}

const cancelsOf = (server: ScriptedServer) =>
  server.seen.filter(({ method }) => method === 'http/cancel').map(({ params }) => params);

test('requests are numbered, and say whether their body streams', async () => {
  const { server, client } = await connect();
  expect(await client.httpRequest(REQUEST)).toEqual({ status: 200, headers: [], bodyBase64: '' });
  const { status, headers } = await client.httpRequestStream(REQUEST);
  expect([status, headers]).toEqual([200, []]);
  expect(server.seen.slice(2).map(({ params }) => params)).toEqual([
    { ...REQUEST, requestId: 'http-1', streamResponse: false },
    { ...REQUEST, requestId: 'http-2', streamResponse: true },
  ]);
});

test('a body comes in order and ends', async () => {
  const { server, client } = await connect();
  const { body } = await client.httpRequestStream(REQUEST);
  server.send(delta('http-1', 1, 3), delta('http-1', 2, 5), end('http-1', 3), delta('http-1', 4, 7));
  expect(await sizesOf(body)).toEqual([3, 5]);
  expect((await body.next()).done).toBe(true);
});

test('pieces for nobody are ignored, and bodies do not mix', async () => {
  const { server, client } = await connect();
  const [a, b] = await Promise.all([client.httpRequestStream(REQUEST), client.httpRequestStream(REQUEST)]);
  server.send(delta('http-9', 1, 1), delta('http-2', 1, 2), delta('http-1', 1, 3));
  server.send(end('http-1', 2), end('http-2', 2));
  expect([await sizesOf(a.body), await sizesOf(b.body)]).toEqual([[3], [2]]);
});

test('a body that failed says why, behind what has come', async () => {
  const { server, client } = await connect();
  const { body } = await client.httpRequestStream(REQUEST);
  server.send(delta('http-1', 1, 3), end('http-1', 2, 'error decoding response body'));
  const { bytes, error } = await drain(body);
  expect(bytes).toBe(3);
  expect(error).toMatchObject({ code: 'http', message: 'error decoding response body' });
});

test('a request that is refused has no body', async () => {
  const server = scriptAcceptingServer(undefined, ({ id, method }, { send }) => {
    if (method === 'http/request') send({ id, error: { code: -32602, message: 'no' } });
  });
  const client = await ExecServerClient.connect(server.transport);
  await expect(client.httpRequestStream(REQUEST)).rejects.toMatchObject({ code: 'rejected' });
});

test.each([0, 2, 3])('piece %i first is an error of the protocol, of this body alone', async (seq) => {
  const { server, client } = await connect();
  const { body } = await client.httpRequestStream(REQUEST);
  const other = await client.httpRequestStream(REQUEST);
  server.send(delta('http-1', seq, 1), delta('http-2', 1, 1), end('http-2', 2));
  expect((await drain(body)).error).toMatchObject({ code: 'protocol' });
  expect(await sizesOf(other.body)).toEqual([1]);
});

test('all bodies fail with the connection, behind what has come', async () => {
  const { server, client } = await connect();
  const { body } = await client.httpRequestStream(REQUEST);
  server.send(delta('http-1', 1, 4));
  await client.environmentStatus();
  server.far.destroy('cut');
  expect(await drain(body)).toMatchObject({
    bytes: 4,
    error: { code: 'connection_lost', message: 'exec-server transport disconnected: cut' },
  });
});

describe('limits', () => {
  test.each([MAX_HTTP_DELTA_BYTES - 1, MAX_HTTP_DELTA_BYTES])(
    'a piece of %i bytes is taken',
    async (size) => {
      const { server, client } = await connect();
      const { body } = await client.httpRequestStream(REQUEST);
      server.send(delta('http-1', 1, size), end('http-1', 2));
      expect(await sizesOf(body)).toEqual([size]);
    },
  );

  test('a larger one ends the connection', async () => {
    const { server, client } = await connect();
    const { body } = await client.httpRequestStream(REQUEST);
    server.send(delta('http-1', 1, MAX_HTTP_DELTA_BYTES + 1));
    expect((await drain(body)).error).toMatchObject({ code: 'connection_lost' });
    await expect(client.environmentStatus()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('body delta of 1048577 bytes exceeds 1048576'),
    });
  });

  test.each([MAX_QUEUED_DELTAS - 1, MAX_QUEUED_DELTAS])('%i pieces may wait', async (count) => {
    const { server, client } = await connect();
    const { body } = await client.httpRequestStream(REQUEST);
    for (let seq = 1; seq <= count; seq++) server.send(delta('http-1', seq, 1));
    server.send(end('http-1', count + 1));
    await client.environmentStatus();
    expect(await drain(body)).toEqual({ bytes: count, error: undefined });
  });

  test('one more fails the body, and is cancelled at the server', async () => {
    const { server, client } = await connect(true);
    const { body } = await client.httpRequestStream(REQUEST);
    for (let seq = 1; seq <= MAX_QUEUED_DELTAS + 1; seq++) server.send(delta('http-1', seq, 1));
    await server.find(({ method }) => method === 'http/cancel');
    expect(await drain(body)).toMatchObject({
      bytes: MAX_QUEUED_DELTAS,
      error: { code: 'http', message: 'body delta channel filled before delivery' },
    });
  });

  test('16 MiB may wait in all bodies together; the one that goes beyond fails alone', async () => {
    const { server, client } = await connect();
    const { body } = await client.httpRequestStream(REQUEST);
    const other = await client.httpRequestStream(REQUEST);
    const half = MAX_QUEUED_BODY_BYTES / 2 / MIB;
    for (let seq = 1; seq <= half; seq++) server.send(delta('http-1', seq, MIB), delta('http-2', seq, MIB));
    server.send(delta('http-2', half + 1, 1), end('http-1', half + 1));
    await client.environmentStatus();
    expect((await drain(other.body)).error).toMatchObject({
      code: 'http',
      message: 'queued body deltas exceed 16777216 bytes',
    });
    expect(await drain(body)).toEqual({ bytes: half * MIB, error: undefined });
  });

  test('what was taken makes room', async () => {
    const { server, client } = await connect();
    const { body } = await client.httpRequestStream(REQUEST);
    for (let seq = 1; seq <= 16; seq++) server.send(delta('http-1', seq, MIB));
    await client.environmentStatus();
    await body.next();
    server.send(delta('http-1', 17, MIB), end('http-1', 18));
    expect(await drain(body)).toEqual({ bytes: 16 * MIB, error: undefined });
  });

  test('none is hit where the connection waits for slow readers', async () => {
    const { server, client } = await connect(false, { slowReader: 'pause' });
    const { body } = await client.httpRequestStream(REQUEST);
    for (let seq = 1; seq <= 1_000; seq++) server.send(delta('http-1', seq, 10));
    server.send(end('http-1', 1_001));
    expect(await drain(body)).toEqual({ bytes: 10_000, error: undefined });
  });
});

describe('cancelling', () => {
  test('happens at the server when the body is left, where it can', async () => {
    const { server, client } = await connect(true);
    const { body } = await client.httpRequestStream(REQUEST);
    server.send(delta('http-1', 1, 1));
    for await (const { length } of body) {
      expect(length).toBe(1);
      break;
    }
    await server.find(({ method }) => method === 'http/cancel');
    server.send(delta('http-1', 2, 1));
    expect((await body.next()).done).toBe(true);
    expect(cancelsOf(server)).toEqual([{ requestId: 'http-1' }]);
  });

  test('is left out where it cannot, and for a body that is complete', async () => {
    const { server, client } = await connect(false);
    const { body } = await client.httpRequestStream(REQUEST);
    await body.return?.();
    await client.environmentStatus();
    expect(cancelsOf(server)).toEqual([]);

    const other = await connect(true);
    const complete = await other.client.httpRequestStream(REQUEST);
    other.server.send(end('http-1', 1));
    await other.client.environmentStatus();
    await complete.body.return?.();
    await other.client.environmentStatus();
    expect(cancelsOf(other.server)).toEqual([]);
  });

  test('follows the signal of a request', async () => {
    const environmentInfo = { shell: { name: 'sh', path: 'sh' }, capabilities: { httpCancel: true } };
    const server = scriptAcceptingServer({ sessionId: 's', environmentInfo });
    const client = await ExecServerClient.connect(server.transport);
    const controller = new AbortController();
    const { signal } = controller;
    const requests = [client.httpRequest(REQUEST, { signal }), client.httpRequestStream(REQUEST, { signal })];
    const failures = Promise.all(requests.map((request) => request.catch((error: unknown) => error)));
    await server.find(({ params }) => (params as { requestId?: string } | null)?.requestId === 'http-2');
    controller.abort(new Error('enough'));
    expect(await failures).toEqual([signal.reason, signal.reason]);
    await server.find(
      ({ method, params }) =>
        method === 'http/cancel' && (params as { requestId: string }).requestId === 'http-2',
    );
    expect(cancelsOf(server)).toEqual([{ requestId: 'http-1' }, { requestId: 'http-2' }]);
  });
});
