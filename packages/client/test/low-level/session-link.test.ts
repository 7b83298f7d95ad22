import { describe, expect, test } from 'vitest';
import { ExecServerError } from '../../src/errors.js';
import { type Answer, take } from '../support/followed-process.js';
import { scriptAcceptingServer, scriptServer } from '../support/scripted-server.js';
import {
  connect,
  failureOf,
  listed,
  RECONNECT,
  readResult,
  readsOf,
  refused,
  rejecting,
  SESSION,
} from '../support/scripted-session.js';

describe('after a loss', () => {
  test('calls that may be sent again are, others fail, new ones wait', async () => {
    const answering: Answer = ({ id, method }, { send }) => {
      if (method === 'environment/status') send({ id, result: { status: 'ready' } });
      if (method === 'process/write') send({ id, result: { status: 'accepted' } });
    };
    const { dialer, client, cut } = await connect([undefined, answering]);
    const first = await dialer.server(0);
    const session = client.registerProcess('p');
    const status = client.environmentStatus();
    const write = session.write(new Uint8Array([1]));
    const signal = failureOf(client.signal({ processId: 'p', signal: 'interrupt' }));
    await first.find(({ method }) => method === 'process/signal');
    await first.find(({ method }) => method === 'process/write');
    client.on('process/closed', () => {});
    session.unregister();
    await cut(0);
    expect(await signal).toMatchObject({
      code: 'connection_lost',
      retryable: true,
      message: 'exec-server transport disconnected: cut',
    });
    expect(await status).toEqual({ status: 'ready' });
    expect(await write).toEqual({ status: 'accepted' });
    expect(await client.environmentStatus()).toEqual({ status: 'ready' });
    const writes = [first, await dialer.server(1)].flatMap(({ seen }) =>
      seen.filter(({ method }) => method === 'process/write').map(({ params }) => params),
    );
    expect(writes).toEqual([
      { processId: 'p', writeId: '1', chunk: 'AQ==' },
      { processId: 'p', writeId: '1', chunk: 'AQ==' },
    ]);
  });

  test('a call may choose', async () => {
    const { dialer, client, cut } = await connect([
      undefined,
      ({ id, method }, { send }) => {
        if (method === 'process/terminate') send({ id, result: { running: false } });
      },
    ]);
    const terminate = client.terminate({ processId: 'p' }, { resend: true });
    const status = failureOf(client.environmentStatus({ resend: false }));
    await (await dialer.server(0)).find(({ method }) => method === 'environment/status');
    await cut(0);
    expect(await terminate).toEqual({ running: false });
    expect(await status).toMatchObject({ code: 'connection_lost' });
  });

  test('listeners are told of it and go on hearing', async () => {
    const { dialer, client, cut } = await connect([undefined, undefined]);
    const losses: string[] = [];
    client.onLoss(({ message }) => losses.push(message));
    const changed = new Promise((resolve) => client.on('fs/changed', resolve));
    await cut(0);
    await client.ready();
    (await dialer.server(1)).send({ method: 'fs/changed', params: { watchId: 'w', changes: [] } });
    expect(await changed).toEqual({ watchId: 'w', changes: [] });
    expect(losses).toEqual(['exec-server transport disconnected: cut']);
  });
});

describe('attempts', () => {
  test('go on while the server cannot be reached, is slow or still has the old connection', async () => {
    const { dialer, client, cut } = await connect(
      [
        undefined,
        refused(),
        new ExecServerError('connect_timeout', 'late', { retryable: true }),
        scriptServer(),
        rejecting(-32010, 'session s is already attached to another connection'),
        scriptServer((_message, { far }) => far.destroy('cut again')),
        readsOf(readResult([], 1)),
      ],
      { initializeTimeoutMs: 20 },
    );
    const session = client.registerProcess('p');
    await cut(0);
    await client.ready();
    expect(dialer.servers).toHaveLength(5);
    expect(session.isOver).toBe(false);
  });

  test('start over when the connection is lost while it catches up', async () => {
    const dying: Answer = ({ method }, { far }) => {
      if (method === 'process/read') far.destroy('cut again');
    };
    const { dialer, client, cut } = await connect([
      undefined,
      dying,
      readsOf(readResult([], 3, { exited: true, exitCode: 0, closed: true })),
    ]);
    const session = client.registerProcess('p');
    await cut(0);
    expect(await take(session.events())).toEqual(['exited 1', 'closed 2']);
    expect(dialer.servers).toHaveLength(3);
  });

  test.each([
    [
      'a session that is gone',
      rejecting(-32600, 'unknown session id s'),
      'session_expired',
      'unknown session id s',
    ],
    [
      'another session',
      scriptAcceptingServer({ sessionId: 'new' }),
      'session_expired',
      'exec-server initialized an unexpected session new',
    ],
    ['a refusal', rejecting(-32602, 'no'), 'session_expired', 'no'],
    ['no admission', new ExecServerError('connect_failed', 'forbidden'), 'connect_failed', 'forbidden'],
  ] as const)('end at %s, for everything and for good', async (_name, second, code, text) => {
    const { dialer, client, cut } = await connect([undefined, second, undefined]);
    const [p, q] = [client.registerProcess('p'), client.registerProcess('q')];
    const status = failureOf(client.environmentStatus());
    await (await dialer.server(0)).find(({ method }) => method === 'environment/status');
    await cut(0);
    const message = `exec-server transport disconnected: cut; failed to resume exec-server session: ${text}`;
    expect(await take(p.events())).toEqual([`failed ${message}`]);
    expect(await take(q.events())).toEqual([`failed ${message}`]);
    expect(await status).toMatchObject({ code, message });
    expect(await failureOf(client.environmentStatus())).toMatchObject({ code, message });
    expect(() => client.registerProcess('r')).toThrow(expect.objectContaining({ code }));
    expect(dialer.servers.length).toBeLessThanOrEqual(2);
    expect(dialer.closes).toBe(1);
  });

  test('end at the deadline of the caller', async () => {
    const { client, cut } = await connect([undefined, refused()], {
      reconnect: { ...RECONNECT, deadlineMs: 30 },
    });
    const session = client.registerProcess('p');
    await cut(0);
    const text = 'exec-server transport disconnected: cut; failed to resume exec-server session: refused';
    expect(await take(session.events())).toEqual([`failed ${text}`]);
    expect(await failureOf(client.ready())).toMatchObject({ code: 'connection_lost', retryable: false });
  });

  test('end there, too, when the server just does not answer', async () => {
    const { client, cut } = await connect([undefined, scriptServer()], { reconnect: { deadlineMs: 30 } });
    await cut(0);
    expect(await failureOf(client.ready())).toMatchObject({ code: 'connection_lost' });
  });

  test('that get nowhere share one deadline', async () => {
    // Every connection resumes and is lost again before anything comes through.
    const { client, cut } = await connect(
      [
        undefined,
        ({ method }, { far }) => {
          if (method === 'initialized') setTimeout(() => far.destroy('cut'), 5);
        },
      ],
      { reconnect: { ...RECONNECT, deadlineMs: 100 } },
    );
    await cut(0);
    // The clock stands while the connection is up, so that this takes many of them.
    const over = new Promise((resolve) => {
      const session = client.registerProcess('p');
      session.listen(resolve);
    });
    expect(await over).toMatchObject({ type: 'failed', error: { code: 'connection_lost' } });
  });

  test('are not made where that is not wanted', async () => {
    const { dialer, client, cut } = await connect([undefined], { reconnect: false });
    const session = client.registerProcess('p');
    await cut(0);
    expect(await take(session.events())).toEqual(['failed exec-server transport disconnected: cut']);
    expect(dialer.servers).toHaveLength(1);
  });

  test('stop when the client is closed', async () => {
    const { dialer, client, cut } = await connect([undefined, scriptServer()]);
    const session = client.registerProcess('p');
    await cut(0);
    await (await dialer.server(1)).find(({ method }) => method === 'initialize');
    await client.close();
    expect(await take(session.events())).toEqual([
      'failed exec-server transport disconnected: closed by this client',
    ]);
    expect(await failureOf(client.ready())).toMatchObject({ code: 'connection_lost', retryable: false });
    expect(dialer.servers).toHaveLength(2);
  });

  test('a malformed message meanwhile is the end', async () => {
    const nonsense = scriptServer((_message, { far }) => far.send('{'));
    const { client, cut } = await connect([undefined, nonsense, undefined]);
    await cut(0);
    expect(await failureOf(client.ready())).toMatchObject({ code: 'protocol' });
  });
});

describe('a start that was not answered', () => {
  const START = { processId: 'p', argv: ['x'], cwd: 'file:///', env: {}, tty: false };

  test('is sent again when the server has no such process', async () => {
    const { dialer, client, cut } = await connect([
      undefined,
      ({ id, method }, { send }) => {
        if (method === 'process/read') send({ id, error: { code: -32600, message: 'unknown process id p' } });
        if (method === 'process/start') send({ id, result: { processId: 'p', pid: 7 } });
      },
    ]);
    const session = client.registerProcess('p');
    const start = client.exec(START);
    await (await dialer.server(0)).find(({ method }) => method === 'process/start');
    await cut(0);
    expect(await start).toEqual({ processId: 'p', pid: 7 });
    expect(session.isOver).toBe(false);
    const second = (await dialer.server(1)).seen.map(({ method }) => method);
    expect(second.filter((method) => method === 'process/start')).toHaveLength(1);
  });

  test('is not when it has, and its pid is looked up where that can be done', async () => {
    const environmentInfo = { shell: { name: 'sh', path: 'sh' }, capabilities: { processTags: true } };
    const second = scriptServer(({ id, method }, { send }) => {
      if (method === 'initialize') send({ id, result: { ...SESSION, environmentInfo } });
      if (method === 'process/read') send({ id, result: readResult([], 1) });
      if (method === 'process/list')
        send({
          id,
          result: { processes: [listed('p', 's')] },
        });
    });
    const first = scriptAcceptingServer({ ...SESSION, environmentInfo });
    const { client, cut } = await connect([first, second]);
    const start = client.exec(START);
    await first.find(({ method }) => method === 'process/start');
    await cut(0);
    expect(await start).toEqual({ processId: 'p', pid: 77 });
    expect(second.seen.some(({ method }) => method === 'process/start')).toBe(false);
  });

  test('is unknown when the session is gone', async () => {
    const { dialer, client, cut } = await connect([undefined, rejecting(-32600, 'unknown session id s')]);
    const start = failureOf(client.exec(START));
    await (await dialer.server(0)).find(({ method }) => method === 'process/start');
    await cut(0);
    expect(await start).toMatchObject({ code: 'session_expired' });
  });
});
