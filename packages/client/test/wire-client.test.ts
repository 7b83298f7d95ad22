import { encodeBase64, encodeOutputFrame, MalformedMessageError, RpcError } from '@exec-server/protocol';
import { CallTimeoutError, ConnectionLostError } from '@exec-server/rpc';
import { describe, expect, test } from 'vitest';
import { UnexpectedSessionError, WireClient } from '../src/index.js';
import { type ScriptedServer, scriptAcceptingServer, scriptServer } from './support/scripted-server.js';

const connect = (server: ScriptedServer, options: Partial<Parameters<typeof WireClient.connect>[1]> = {}) =>
  WireClient.connect(server.transport, { clientName: 'test', ...options });

const closedEvent = (seq: number) => ({ method: 'process/closed', params: { processId: 'p', seq } });

describe('the handshake', () => {
  test('sends initialize, then initialized', async () => {
    const server = scriptAcceptingServer();
    const client = await connect(server);
    await server.find(({ method }) => method === 'initialized');
    expect(server.seen).toEqual([
      { id: 1, method: 'initialize', params: { clientName: 'test' } },
      { method: 'initialized', params: {} },
    ]);
    expect(client.sessionId).toBe('s-1');
    expect(client.environmentInfo).toBeUndefined();
  });

  test('keeps what the server tells about its host', async () => {
    const shell = { name: 'sh', path: '/bin/sh' };
    const client = await connect(
      scriptAcceptingServer({ sessionId: 's', environmentInfo: { shell }, extra: 1 }),
    );
    expect(client.environmentInfo).toMatchObject({ shell });
  });

  test('resumes a session', async () => {
    const server = scriptAcceptingServer({ sessionId: 'old', environmentInfo: null });
    const client = await connect(server, { resumeSessionId: 'old' });
    expect(server.seen[0]).toMatchObject({ params: { clientName: 'test', resumeSessionId: 'old' } });
    expect([client.sessionId, client.environmentInfo]).toEqual(['old', undefined]);
  });

  test('another session than the one to resume is an error', async () => {
    const server = scriptAcceptingServer({ sessionId: 'new' });
    await expect(connect(server, { resumeSessionId: 'old' })).rejects.toThrow(
      new UnexpectedSessionError('new'),
    );
    expect(await server.closed).toBeUndefined();
  });

  test('a refusal rejects with its code and closes the transport', async () => {
    const server = scriptServer(({ id }, { send }) =>
      send({ id, error: { code: -32010, message: 'attached' } }),
    );
    const failure = await connect(server).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RpcError);
    expect(failure).toMatchObject({ code: -32010, message: 'attached' });
    expect(await server.closed).toBeUndefined();
  });

  test('an answer that makes no sense does so too', async () => {
    const server = scriptAcceptingServer({ sessionId: 7 });
    await expect(connect(server)).rejects.toThrow(MalformedMessageError);
    expect(await server.closed).toBeUndefined();
  });

  test('a server that does not answer is given up', async () => {
    const server = scriptServer();
    await expect(connect(server, { initializeTimeoutMs: 1 })).rejects.toThrow(CallTimeoutError);
    expect(await server.closed).toBeUndefined();
  });

  test('a connection that ends during it rejects with the reason, and onClose is not called', async () => {
    const ends: unknown[] = [];
    const server = scriptServer((_message, { far }) => far.destroy('gone'));
    const connecting = connect(server, { onClose: (reason) => ends.push(reason) });
    await expect(connecting).rejects.toThrow(new ConnectionLostError('gone'));
    await server.closed;
    expect(ends).toEqual([]);
  });
});

describe('calls', () => {
  test('are typed by the method table and decode their result', async () => {
    const server = scriptAcceptingServer(undefined, ({ id, method }, { send }) => {
      if (method === 'process/terminate') send({ id, result: { running: true, unknown: 1 } });
    });
    const client = await connect(server);
    const { running } = await client.call('process/terminate', { processId: 'p' });
    expect(running).toBe(true);
  });

  test('a result that makes no sense fails the call alone', async () => {
    const server = scriptAcceptingServer(undefined, ({ id, method }, { send }) => {
      if (method !== 'initialized')
        send({ id, result: method === 'environment/status' ? { status: 'ready' } : {} });
    });
    const client = await connect(server);
    await expect(client.call('process/terminate', { processId: 'p' })).rejects.toThrow(MalformedMessageError);
    expect(await client.call('environment/status', null)).toEqual({ status: 'ready' });
  });

  test('take a timeout and a signal', async () => {
    const client = await connect(scriptAcceptingServer());
    await expect(client.call('environment/status', null, { timeoutMs: 1 })).rejects.toThrow(CallTimeoutError);
    const signal = AbortSignal.abort(new Error('no'));
    await expect(client.call('environment/status', null, { signal })).rejects.toThrow('no');
  });
});

describe('notifications', () => {
  test('that come before or with the answer to initialize are delivered in order, to listeners added after connect', async () => {
    const server = scriptServer(({ id, method }, { send }) => {
      if (method !== 'initialize') return;
      send(closedEvent(1), closedEvent(2), { id, result: { sessionId: 's' } }, closedEvent(3));
    });
    const all: string[] = [];
    const client = await connect(server, { onNotification: ({ method }) => all.push(method) });
    const seqs: number[] = [];
    const third = new Promise<void>((resolve) => {
      client.on('process/closed', ({ seq }) => {
        seqs.push(seq);
        if (seq === 3) resolve();
      });
    });
    await third;
    expect(seqs).toEqual([1, 2, 3]);
    expect(all).toHaveLength(3);
  });

  test('held ones precede the end', async () => {
    const order: unknown[] = [];
    const server = scriptServer(({ id, method }, { send, far }) => {
      if (method !== 'initialize') return;
      send({ id, result: { sessionId: 's' } }, closedEvent(1));
      far.close();
    });
    const client = await connect(server, {
      onNotification: ({ method }) => order.push(method),
      onClose: (reason) => order.push(reason),
    });
    await client.closed;
    await Promise.resolve();
    expect(order).toEqual(['process/closed', undefined]);
  });

  test.each([
    [4096, undefined],
    [
      4097,
      'failed to parse JSON-RPC message from exec-server test: too many notifications before the handshake',
    ],
  ])('%i before the answer: the connection ends with %s', async (count, reason) => {
    const server = scriptServer(({ id, method }, { send }) => {
      if (method !== 'initialize') return;
      for (let seq = 1; seq <= count; seq++) send(closedEvent(seq));
      send({ id, result: { sessionId: 's' } });
    });
    const connecting = connect(server).then(
      () => undefined,
      (error: unknown) => (error as MalformedMessageError).message,
    );
    expect(await connecting).toBe(reason);
  });

  test('are told at once, however many, to those who listen from the start', async () => {
    const server = scriptServer(({ id, method }, { send }) => {
      if (method !== 'initialize') return;
      for (let seq = 1; seq <= 5_000; seq++) send(closedEvent(seq));
      const chunk = encodeBase64(new Uint8Array(3));
      send({ method: 'process/output', params: { processId: 'p', seq: 1, stream: 'stdout', chunk } });
      send({ id, result: { sessionId: 's' } });
    });
    const told = { notifications: 0, bytes: 0 };
    await connect(server, {
      holdEvents: false,
      onNotification: () => told.notifications++,
      onOutput: ({ data }) => {
        told.bytes += data.length;
      },
    });
    expect(told).toEqual({ notifications: 5_001, bytes: 3 });
  });

  test('unknown ones are ignored; so are policy decisions that make no sense', async () => {
    const client = await connect(
      scriptAcceptingServer(undefined, (_message, { send }) =>
        send(
          { method: 'future/thing', params: 1 },
          { method: 'network/policyDecision', params: 1 },
          closedEvent(9),
        ),
      ),
    );
    const seq = await new Promise((resolve) => client.on('process/closed', (params) => resolve(params.seq)));
    expect([seq, client.isClosed]).toEqual([9, false]);
  });

  test('known ones that make no sense end the connection', async () => {
    const server = scriptAcceptingServer();
    const client = await connect(server);
    server.send({ method: 'process/closed', params: { processId: 1, seq: 1 } });
    expect(await client.closed).toMatch(
      /^failed to parse JSON-RPC message from exec-server test: `process\/closed`: invalid type/,
    );
  });

  test('wait while the client is paused', async () => {
    const server = scriptAcceptingServer();
    const client = await connect(server);
    const seqs: number[] = [];
    const told = new Promise<void>((resolve) => {
      client.on('process/closed', ({ seq }) => {
        seqs.push(seq);
        resolve();
      });
    });
    client.pause();
    server.send(closedEvent(1));
    await new Promise(setImmediate);
    expect(seqs).toEqual([]);
    client.resume();
    await told;
  });
});

describe('binary output', () => {
  const frame = (seq: number) => ({
    processId: 'p',
    seq,
    stream: 'stdout' as const,
    data: Uint8Array.of(0, 0xff, seq),
  });

  test.each([
    [undefined, {}, false],
    [false, {}, false],
    [true, { binaryOutput: true }, true],
  ])('option %s: asks with %j and is on: %s', async (binaryOutput, asked, on) => {
    const server = scriptAcceptingServer({ sessionId: 's', ...asked });
    const client = await connect(server, binaryOutput === undefined ? {} : { binaryOutput });
    expect(server.seen[0]?.params).toEqual({ clientName: 'test', ...asked });
    expect(client.binaryOutput).toBe(on);
  });

  test.each([[{}], [{ binaryOutput: false }]])(
    'a server that answers %j has not granted it',
    async (answer) => {
      const server = scriptAcceptingServer({ sessionId: 's', ...answer });
      const client = await connect(server, { binaryOutput: true });
      expect(client.binaryOutput).toBe(false);
      const output = new Promise((resolve) => client.onOutput(resolve));
      server.send({
        method: 'process/output',
        params: { processId: 'p', seq: 1, stream: 'stdout', chunk: 'AP8B' },
      });
      expect(await output).toEqual(frame(1));
    },
  );

  test('is not asked for over a transport that has no binary messages', async () => {
    const server = scriptAcceptingServer();
    const { transport } = server;
    const textOnly = new Proxy(transport, {
      get(target, name) {
        if (name === 'sendBinary') return undefined;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await WireClient.connect(textOnly, { clientName: 'test', binaryOutput: true });
    expect(server.seen[0]?.params).toEqual({ clientName: 'test' });
  });

  test('reaches onOutput in order with the notifications, also what comes with the answer to initialize', async () => {
    const server = scriptServer(({ id, method }, { send, far }) => {
      if (method !== 'initialize') return;
      send({ id, result: { sessionId: 's', binaryOutput: true } });
      far.sendBinary?.(encodeOutputFrame(frame(1)));
      send(closedEvent(2));
      far.sendBinary?.(encodeOutputFrame({ ...frame(3), sessionId: 'other' }));
      far.close();
    });
    const client = await connect(server, { binaryOutput: true });
    const order: unknown[] = [];
    client.onOutput((output) => order.push(output));
    client.on('process/closed', ({ seq }) => order.push(seq));
    await client.closed;
    expect(order).toEqual([frame(1), 2, { ...frame(3), sessionId: 'other' }]);
  });

  test('a frame that makes no sense ends the connection', async () => {
    const server = scriptAcceptingServer({ sessionId: 's', binaryOutput: true });
    const client = await connect(server, { binaryOutput: true });
    server.far.sendBinary?.(Uint8Array.of(1, 2, 3));
    const reason = await client.closed;
    expect(reason).toBe(
      'failed to parse JSON-RPC message from exec-server test: output frame: 3 bytes are less than its header of 16',
    );
    expect(await server.closed).toBe(`closed with code 1002: ${reason}`);
  });

  test('frames count among what is held before the answer', async () => {
    const server = scriptServer((_message, { far }) => {
      for (let seq = 1; seq <= 4097; seq++) far.sendBinary?.(encodeOutputFrame(frame(seq)));
    });
    const failure = await connect(server, { binaryOutput: true }).catch((error: unknown) => error);
    expect((failure as MalformedMessageError).message).toContain(
      'too many notifications before the handshake',
    );
  });

  test('a client that did not ask reads binary messages as JSON', async () => {
    const server = scriptAcceptingServer();
    const client = await connect(server);
    const seq = new Promise((resolve) => client.on('process/closed', (params) => resolve(params.seq)));
    server.far.sendBinary?.(new TextEncoder().encode(JSON.stringify(closedEvent(5))));
    expect(await seq).toBe(5);
  });
});

describe('the server', () => {
  test('gets -32601 for requests of its own', async () => {
    const server = scriptAcceptingServer();
    await connect(server);
    server.send({ id: 7, method: 'network/unheardOf', params: {} });
    expect(await server.find(({ id }) => id === 7)).toMatchObject({
      id: 7,
      error: { code: -32601, message: 'exec-server client does not implement `network/unheardOf` yet' },
    });
  });

  test('that talks nonsense loses the connection', async () => {
    const server = scriptAcceptingServer();
    const ends: unknown[] = [];
    const client = await connect(server, { onClose: (reason) => ends.push(reason) });
    const call = client.call('environment/status', null).catch((error: unknown) => error);
    server.far.send('{');
    const reason = await client.closed;
    expect(reason).toMatch(/^failed to parse JSON-RPC message from exec-server test: /);
    expect(await call).toMatchObject({ name: 'ConnectionLostError', reason });
    expect(await server.closed).toBe(`closed with code 1002: ${reason}`);
    expect(ends).toEqual([reason]);
  });
});

test('close ends the connection and the calls', async () => {
  const server = scriptAcceptingServer();
  const client = await connect(server);
  const call = client.call('environment/status', null);
  client.close();
  expect(client.isClosed).toBe(true);
  await expect(call).rejects.toThrow(ConnectionLostError);
  expect(await client.closed).toBeUndefined();
  expect(await server.closed).toBeUndefined();
});
