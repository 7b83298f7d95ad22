import { encodeBase64, encodeOutputFrame, METHODS, type MethodName } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { ExecServerError } from '../../src/errors.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { type ScriptedDialer, scriptDialer } from '../support/scripted-dialer.js';
import {
  type ScriptedServer,
  type SeenMessage,
  scriptAcceptingServer,
  scriptServer,
} from '../support/scripted-server.js';

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const statusAnswer = ({ id, method }: SeenMessage, server: ScriptedServer) => {
  if (method === 'environment/status') server.send({ id, result: { status: 'ready' } });
};

const dialerOf = (script: () => ScriptedServer = () => scriptAcceptingServer()): ScriptedDialer =>
  scriptDialer(script);

describe('connecting', () => {
  test('sends initialize with id 1 and initialized, and nothing more', async () => {
    const server = scriptAcceptingServer(undefined, statusAnswer);
    const client = await ExecServerClient.connect(server.transport, { binaryOutput: false });
    await client.environmentStatus();
    expect(server.seen).toEqual([
      { id: 1, method: 'initialize', params: { clientName: 'exec-server-client' } },
      { method: 'initialized', params: {} },
      { id: 2, method: 'environment/status', params: null },
    ]);
    expect(client.sessionId).toBe('s-1');
  });

  test('says who it is and what to resume, and asks for binary output', async () => {
    const server = scriptAcceptingServer({ sessionId: 'old' });
    const options = { clientName: 'me', resumeSessionId: 'old' };
    const client = await ExecServerClient.connect(server.transport, options);
    expect(server.seen[0]).toMatchObject({
      params: { clientName: 'me', resumeSessionId: 'old', binaryOutput: true },
    });
    expect([client.clientName, client.sessionId]).toEqual(['me', 'old']);
  });

  test('waits for the first use, and concurrent uses share one attempt', async () => {
    const dialer = dialerOf(() => scriptAcceptingServer(undefined, statusAnswer));
    const client = new ExecServerClient(dialer);
    expect([dialer.servers.length, client.sessionId]).toEqual([0, undefined]);
    await Promise.all([client.ready(), client.initialize(), client.environmentStatus()]);
    expect(dialer.servers).toHaveLength(1);
    expect(dialer.servers[0]?.seen.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  test('an attempt that failed is not remembered', async () => {
    const refused = new ExecServerError('connect_failed', 'refused', { retryable: true });
    const dialer = scriptDialer((index) => (index === 0 ? refused : scriptAcceptingServer()));
    const client = new ExecServerClient(dialer);
    expect(await failureOf(Promise.all([client.ready(), client.ready()]))).toBe(refused);
    await client.ready();
    expect(dialer.servers).toHaveLength(1);
  });

  test.each([
    [-32600, 'unknown session id old', 'session_expired', false],
    [-32010, 'session old is already attached to another connection', 'rejected', true],
    [-32602, 'missing field `clientName`', 'rejected', false],
  ])('a refusal with %i %s is %s', async (code, message, name, retryable) => {
    const server = scriptServer(({ id }, { send }) => send({ id, error: { code, message } }));
    const connecting = ExecServerClient.connect(server.transport, { resumeSessionId: 'old' });
    expect(await failureOf(connecting)).toMatchObject({ code: name, rpcCode: code, message, retryable });
  });

  test('another session than the one to resume is session_expired', async () => {
    const server = scriptAcceptingServer({ sessionId: 'new' });
    const connecting = ExecServerClient.connect(server.transport, { resumeSessionId: 'old' });
    expect(await failureOf(connecting)).toMatchObject({
      code: 'session_expired',
      message: 'exec-server initialized an unexpected session new',
    });
  });

  test('an answer that makes no sense is protocol', async () => {
    const server = scriptAcceptingServer({ sessionId: 7 });
    expect(await failureOf(ExecServerClient.connect(server.transport))).toMatchObject({ code: 'protocol' });
  });

  test('a server that does not answer is initialize_timeout', async () => {
    const failure = await failureOf(
      ExecServerClient.connect(scriptServer().transport, { initializeTimeoutMs: 5 }),
    );
    expect(failure).toMatchObject({ code: 'initialize_timeout', retryable: true });
  });

  test('can be given up', async () => {
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    expect(await failureOf(ExecServerClient.connect(scriptServer().transport, { signal }))).toBe(reason);
    const controller = new AbortController();
    const server = scriptServer();
    const connecting = ExecServerClient.connect(server.transport, { signal: controller.signal });
    await server.find(({ method }) => method === 'initialize');
    controller.abort(reason);
    expect(await failureOf(connecting)).toBe(reason);
    expect(await server.closed).toBe('the connection is no longer wanted');
  });

  test('closing gives up an attempt under way', async () => {
    const dialer = dialerOf(() => scriptServer());
    const client = new ExecServerClient(dialer);
    const ready = failureOf(client.ready());
    await (await dialer.server(0)).find(({ method }) => method === 'initialize');
    await client.close();
    expect(await ready).toMatchObject({ code: 'connection_lost', retryable: false });
    expect(await failureOf(client.ready())).toMatchObject({ code: 'connection_lost' });
    expect(dialer.closes).toBeGreaterThan(0);
  });
});

/** Named methods and what they call, except those that need more than params. */
const NAMED: readonly (readonly [string & keyof ExecServerClient, MethodName])[] = [
  ['exec', 'process/start'],
  ['startPrepared', 'process/startPrepared'],
  ['read', 'process/read'],
  ['write', 'process/write'],
  ['closeStdin', 'process/closeStdin'],
  ['signal', 'process/signal'],
  ['terminate', 'process/terminate'],
  ['resize', 'process/resize'],
  ['hold', 'process/hold'],
  ['endSession', 'session/end'],
  ['remove', 'process/remove'],
  ['wait', 'process/wait'],
  ['snapshot', 'process/snapshot'],
  ['list', 'process/list'],
  ['attach', 'process/attach'],
  ['detach', 'process/detach'],
  ['waitForPort', 'net/waitForPort'],
  ['fsReadFile', 'fs/readFile'],
  ['fsWriteFile', 'fs/writeFile'],
  ['fsOpen', 'fs/open'],
  ['fsReadBlock', 'fs/readBlock'],
  ['fsWriteBlock', 'fs/writeBlock'],
  ['fsClose', 'fs/close'],
  ['fsCreateDirectory', 'fs/createDirectory'],
  ['fsGetMetadata', 'fs/getMetadata'],
  ['fsCanonicalize', 'fs/canonicalize'],
  ['fsReadDirectory', 'fs/readDirectory'],
  ['fsWalk', 'fs/walk'],
  ['fsRemove', 'fs/remove'],
  ['fsCopy', 'fs/copy'],
  ['fsRename', 'fs/rename'],
  ['fsSetMode', 'fs/setMode'],
  ['fsReadLink', 'fs/readLink'],
  ['fsSymlink', 'fs/symlink'],
  ['fsWatch', 'fs/watch'],
  ['fsUnwatch', 'fs/unwatch'],
  ['fsWatchMissing', 'fs/watchMissing'],
  ['environmentConfigRead', 'environmentConfig/read'],
  ['discoverCapabilityRoots', 'capabilityRoots/discoverV1'],
  ['discoverCapabilities', 'capabilities/discoverV2'],
];

describe('calls', () => {
  test('every method of the wire has one of its own', async () => {
    const server = scriptAcceptingServer(undefined, ({ id }, { send }) => {
      if (id !== undefined) send({ id, error: { code: -32602, message: 'not today' } });
    });
    const client = await ExecServerClient.connect(server.transport);
    const callers = client as unknown as Record<string, (params: unknown) => Promise<unknown>>;
    for (const [name] of NAMED) {
      const failure = await failureOf(callers[name]?.({ processId: 'p', marker: name }) as Promise<unknown>);
      expect(failure).toMatchObject({ code: 'rejected', rpcCode: -32602, message: 'not today' });
    }
    await failureOf(client.environmentInfo());
    await failureOf(client.environmentStatus());
    const sent = server.seen.slice(2).map(({ method, params }) => [method, params]);
    expect(sent).toEqual([
      ...NAMED.map(([name, method]) => [method, { processId: 'p', marker: name }]),
      ['environment/info', null],
      ['environment/status', null],
    ]);
    const others: MethodName[] = ['initialize', 'http/request', 'http/cancel'];
    expect(new Set([...sent.map(([method]) => method), ...others])).toEqual(new Set(Object.keys(METHODS)));
  });

  test('have the deadline of the client, beyond what the server is asked to wait', async () => {
    const server = scriptAcceptingServer();
    const client = await ExecServerClient.connect(server.transport, { requestTimeoutMs: 5 });
    const failure = await failureOf(client.read({ processId: 'p', waitMs: 5 }));
    expect(failure).toMatchObject({
      code: 'request_timeout',
      message: 'exec-server did not answer `process/read` within 10 ms',
    });
    const signal = AbortSignal.timeout(30);
    expect(await failureOf(client.wait({ processId: 'p' }, { signal }))).toBe(signal.reason);
  });

  test('answers that make no sense are protocol errors', async () => {
    const server = scriptAcceptingServer(undefined, ({ id }, { send }) => {
      if (id !== undefined) send({ id, result: { status: 'asleep' } });
    });
    const client = await ExecServerClient.connect(server.transport);
    expect(await failureOf(client.environmentStatus())).toMatchObject({ code: 'protocol' });
  });

  test('a malformed message ends the connection with its reason, and what dialled it', async () => {
    const dialer = dialerOf();
    const client = await ExecServerClient.connect(dialer);
    const session = client.registerProcess('p');
    const call = failureOf(client.environmentStatus());
    (await dialer.server(0)).far.send('{');
    const reason =
      /^exec-server transport disconnected: failed to parse JSON-RPC message from exec-server test: /;
    expect(await call).toMatchObject({ code: 'protocol', message: expect.stringMatching(reason) });
    const events = [];
    for await (const event of session.events()) events.push(event);
    expect(events).toMatchObject([{ type: 'failed', message: expect.stringMatching(reason) }]);
    expect([dialer.servers.length, dialer.closes]).toEqual([1, 1]);
  });
});

describe('the environment', () => {
  const shell = { name: 'sh', path: '/bin/sh' };

  test('is what the handshake told', async () => {
    const environmentInfo = { shell, capabilities: { processWait: true, windowsMxc: false } };
    const server = scriptAcceptingServer({ sessionId: 's', environmentInfo });
    const client = new ExecServerClient(server.transport);
    expect(await client.environment()).toMatchObject({ shell });
    expect(await client.supports('processWait')).toBe(true);
    expect(await client.supports('windowsMxc')).toBe(false);
    expect(await client.supports('neverHeardOf')).toBe(false);
    expect(server.seen).toHaveLength(2);
  });

  test('or is asked for once, and again only after a failure', async () => {
    let asked = 0;
    const server = scriptAcceptingServer(undefined, ({ id, method }, { send }) => {
      if (method !== 'environment/info') return;
      if (++asked === 1) send({ id, error: { code: -32603, message: 'not yet' } });
      else send({ id, result: { shell } });
    });
    const client = await ExecServerClient.connect(server.transport);
    expect(await failureOf(client.environment())).toMatchObject({ code: 'rejected' });
    await Promise.all([client.environment(), client.environment(), client.supports('processWait')]);
    expect(asked).toBe(2);
  });
});

describe('listeners', () => {
  test('get notifications, and output in both forms whichever way it came', async () => {
    const server = scriptAcceptingServer({ sessionId: 's', binaryOutput: true });
    const client = await ExecServerClient.connect(server.transport);
    const seen: unknown[] = [];
    const stop = client.on('process/output', (params) => seen.push(params));
    client.onOutput(({ data, ...rest }) => seen.push({ ...rest, bytes: data.length }));
    const closed = new Promise((resolve) => client.on('process/closed', resolve));
    const data = new Uint8Array([1, 2, 3]);
    const chunk = encodeBase64(data);
    server.far.sendBinary?.(encodeOutputFrame({ processId: 'p', seq: 1, stream: 'stdout', data }));
    server.send(
      { method: 'process/output', params: { processId: 'p', seq: 2, stream: 'stderr', chunk } },
      { method: 'process/closed', params: { processId: 'p', seq: 3 } },
    );
    await closed;
    expect(seen).toEqual([
      { processId: 'p', seq: 1, stream: 'stdout', chunk },
      { processId: 'p', seq: 1, stream: 'stdout', bytes: 3 },
      { processId: 'p', seq: 2, stream: 'stderr', chunk },
      { processId: 'p', seq: 2, stream: 'stderr', bytes: 3 },
    ]);
    stop();
  });
});

describe('network policy', () => {
  const ask = (id: number, processId: string) => ({
    id,
    method: 'network/policyRequest',
    params: { processId, request: { protocol: 'http', host: 'example.org', port: 80 } },
  });

  test('asks the handler about registered processes only', async () => {
    const server = scriptAcceptingServer();
    const client = await ExecServerClient.connect(server.transport, {
      onNetworkPolicyRequest: ({ request }) => ({ type: 'ask', reason: request.host }),
    });
    client.registerProcess('p');
    server.send(ask(1, 'p'), ask(2, 'forged'));
    const answers = await Promise.all(
      [1, 2].map((wanted) => server.find(({ id, method }) => id === wanted && method === undefined)),
    );
    expect(answers).toEqual([
      { id: 1, result: { decision: { type: 'ask', reason: 'example.org' } } },
      {
        id: 2,
        result: { decision: { type: 'deny', reason: 'the client follows no such process' } },
      },
    ]);
  });
});
