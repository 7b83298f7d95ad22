import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectOptions, connect, createDialer, ExecServerClient } from '@exec-server/client';
import { createMemoryTransportPair } from '@exec-server/rpc';
import { createCapabilityTokenPolicy, createExecServer, type ListenOptions } from '@exec-server/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../server/test/listen/tls-fixture.js';

function openServer() {
  const server = createExecServer();
  onTestFinished(() => server.close());
  return server;
}

async function listen(url: string, options: ListenOptions = {}): Promise<string> {
  return (await openServer().listen(url, options)).url;
}

/** Takes connections and says nothing; `connections` counts them. */
async function listenSilently(onSocket: (socket: Socket) => void = () => {}) {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}`, connections: () => connections };
}

async function say(target: Parameters<typeof connect>[0], options: ConnectOptions = {}): Promise<string> {
  const machine = await connect(target, options);
  try {
    const { stdout } = await machine.run(['/bin/echo', 'hello']);
    return stdout.text();
  } finally {
    await machine.close();
  }
}

describe('every way leads to the same machine', () => {
  test('ws://', async () => {
    expect(await say(await listen('ws://127.0.0.1:0'))).toBe('hello\n');
  });

  test('ws:// with a token', async () => {
    const auth = createCapabilityTokenPolicy(createHash('sha256').update('t0k').digest());
    const url = await listen('ws://127.0.0.1:0', { auth });
    expect(await say(url, { token: 't0k' })).toBe('hello\n');
    await expect(say(url)).rejects.toMatchObject({ code: 'connect_failed', retryable: false });
  });

  test('wss:// with the authority of its certificate', async () => {
    const url = await listen('wss://127.0.0.1:0', { tls: { cert: TEST_CERTIFICATE, key: TEST_KEY } });
    expect(await say(url, { tls: { ca: TEST_CERTIFICATE } })).toBe('hello\n');
    expect(await say(url, { tls: { ca: [Buffer.from(TEST_CERTIFICATE)] } })).toBe('hello\n');
    await expect(say(url)).rejects.toMatchObject({ code: 'connect_failed', retryable: false });
  });

  test('unix://', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'connect-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    expect(await say(await listen(`unix://${join(directory, 'socket')}`))).toBe('hello\n');
  });

  test('a server in this process', async () => {
    expect(await say(openServer())).toBe('hello\n');
  });

  test('a transport', async () => {
    const [near, far] = createMemoryTransportPair();
    openServer().accept(far);
    expect(await say(near)).toBe('hello\n');
  });

  test('a dialer, which the low-level client takes too', async () => {
    const dialer = createDialer(openServer());
    expect(await say(dialer)).toBe('hello\n');
    const client = await ExecServerClient.connect(dialer);
    expect(client.sessionId).toBeTypeOf('string');
    await client.close();
  });
});

describe('each deadline has its name', () => {
  test('connect_timeout where nobody answers', async () => {
    const { url } = await listenSilently();
    await expect(connect(url, { connectTimeoutMs: 20 })).rejects.toMatchObject({ code: 'connect_timeout' });
  });

  test('initialize_timeout where a server connects and does not speak', async () => {
    const [near] = createMemoryTransportPair();
    await expect(connect(near, { initializeTimeoutMs: 20 })).rejects.toMatchObject({
      code: 'initialize_timeout',
    });
  });

  test('and an abort has its reason', async () => {
    const controller = new AbortController();
    const { url } = await listenSilently(() => controller.abort(new Error('enough')));
    await expect(connect(url, { signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('a lazy connection', () => {
  test('is made by the first call, once for all that come together', async () => {
    const server = openServer();
    let accepted = 0;
    const counting = {
      accept(transport: Parameters<typeof server.accept>[0]) {
        accepted++;
        server.accept(transport);
      },
    };
    const machine = await connect(counting, { lazy: true });
    expect([accepted, machine.sessionId]).toEqual([0, undefined]);
    const results = await Promise.all(['a', 'b', 'c'].map((word) => machine.run(['/bin/echo', word])));
    expect(results.map(({ stdout }) => stdout.text())).toEqual(['a\n', 'b\n', 'c\n']);
    expect(accepted).toBe(1);
    await machine.close();
  });

  test('that fails is not remembered', async () => {
    let failures = 1;
    const server = openServer();
    const machine = await connect(
      {
        accept(transport) {
          if (failures-- > 0) transport.destroy('not today');
          else server.accept(transport);
        },
      },
      { lazy: true },
    );
    const both = await Promise.allSettled([machine.run(['/bin/true']), machine.run(['/bin/true'])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await machine.run(['/bin/true'])).exitCode).toBe(0);
    await machine.close();
  });
});

test.each([
  [{ timeoutMs: 5 }, '`timeoutMs`'],
  [{ initializeTimeoutMs: 0 }, '`initializeTimeoutMs`'],
  [{ requestTimeoutMs: -1 }, '`requestTimeoutMs`'],
  [{ reconnect: { deadline: 5 } }, '`deadline`'],
  [{ keepAlive: { interval: 5 } }, '`interval`'],
  [{ keepAlive: { pingIntervalMs: 0 } }, '`keepAlive.pingIntervalMs`'],
  [{ keepAlive: { maxUnansweredPings: 0.5 } }, '`keepAlive.maxUnansweredPings`'],
  [{ reconnect: { deadlineMs: Number.NaN } }, '`reconnect.deadlineMs`'],
  [{ slowReader: 'never' }, '`slowReader`'],
  [{ tls: { caFile: '/ca.pem' } }, '`caFile`'],
])('options that cannot be meant are refused: %j', async (options, named) => {
  await expect(connect('ws://127.0.0.1:1', options as ConnectOptions)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(named),
  });
});

test('a session can be resumed as soon as the client before has closed', async () => {
  const url = await listen('ws://127.0.0.1:0');
  let resumeSessionId: string | undefined;
  for (let turn = 0; turn < 20; turn++) {
    const machine = await connect(url, resumeSessionId === undefined ? {} : { resumeSessionId });
    resumeSessionId = machine.sessionId;
    await machine.close();
  }
});
