import { encodeBase64 } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { ExecServerError } from '../../src/errors.js';
import type { ExecServerClientOptions } from '../../src/low-level/client-options.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { LOG_PAGE_BYTES } from '../../src/low-level/read-log.js';
import type { ProcessEvent } from '../../src/process-event.js';
import { scriptDialer } from '../support/scripted-dialer.js';
import {
  type ScriptedServer,
  type SeenMessage,
  scriptAcceptingServer,
  scriptServer,
} from '../support/scripted-server.js';

type Answer = (message: SeenMessage, server: ScriptedServer) => void;

const SESSION = { sessionId: 's' };
const RECONNECT = { minDelayMs: 1, maxDelayMs: 2 };
const refused = () => new ExecServerError('connect_failed', 'refused', { retryable: true });
const rejecting = (code: number, message: string) =>
  scriptServer(({ id }, { send }) => send({ id, error: { code, message } }));

const output = (seq: number) => ({
  method: 'process/output',
  params: { processId: 'p', seq, stream: 'stdout', chunk: encodeBase64(new TextEncoder().encode(`${seq}`)) },
});
const readResult = (seqs: readonly number[], nextSeq: number, more: object = {}) => ({
  chunks: seqs.map((seq) => ({ ...output(seq).params, processId: undefined })),
  nextSeq,
  exited: false,
  exitCode: null,
  closed: false,
  failure: null,
  ...more,
});

/** A process as `process/list` and `process/attach` tell of it. */
const listed = (processId: string, sessionId: string) => ({
  processId,
  sessionId,
  pid: 77,
  argv: ['x'],
  cwd: 'file:///',
  tty: false,
  tags: {},
  startedAtMs: 1,
  nextSeq: 1,
  running: true,
  exitCode: null,
  signal: null,
  timedOut: false,
  closed: false,
});

/** Answers `process/read`, one result after the other and the last for ever. */
const readsOf = (...results: object[]): Answer => {
  const left = [...results];
  return ({ id, method }, { send }) => {
    if (method === 'process/read') send({ id, result: left.length > 1 ? left.shift() : left[0] });
  };
};

/** A client whose n-th connection is the n-th of the scripts; `cut` ends the n-th and waits until that is noticed. */
async function connect(
  scripts: readonly (Answer | ScriptedServer | Error | undefined)[],
  options: ExecServerClientOptions = {},
) {
  const dialer = scriptDialer((index) => {
    const script = scripts[Math.min(index, scripts.length - 1)];
    if (script instanceof Error || (script !== undefined && typeof script !== 'function')) return script;
    return scriptAcceptingServer(SESSION, script);
  });
  const client = await ExecServerClient.connect(dialer, {
    binaryOutput: false,
    reconnect: RECONNECT,
    ...options,
  });
  const cut = async (index: number) => {
    const server = await dialer.server(index);
    const noticed = new Promise<void>((resolve) => client.onLoss(() => resolve()));
    server.far.destroy('cut');
    await noticed;
  };
  return { dialer, client, cut };
}

function brief(event: ProcessEvent): string {
  if (event.type === 'gap') return `gap ${event.fromSeq}-${event.toSeq}`;
  return event.type === 'failed' ? `failed ${event.message}` : `${event.type} ${event.seq}`;
}

async function all(events: AsyncIterable<ProcessEvent>): Promise<string[]> {
  const taken: string[] = [];
  for await (const event of events) taken.push(brief(event));
  return taken;
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('after a loss', () => {
  test('the session is resumed and each live process read from where it was', async () => {
    const { dialer, client, cut } = await connect([
      undefined,
      readsOf(readResult([3], 4), readResult([], 6, { exited: true, exitCode: 9, closed: true })),
    ]);
    const session = client.registerProcess('p');
    const over = client.registerProcess('q');
    const first = await dialer.server(0);
    first.send({ method: 'process/closed', params: { processId: 'q', seq: 1 } }, output(1), output(2));
    expect(await all(over.events())).toEqual(['closed 1']);
    const events = session.events();
    await events.next();
    await events.next();
    await cut(0);
    expect(await all(events)).toEqual(['output 3', 'exited 4', 'closed 5']);
    const read = (afterSeq: number) => ({ processId: 'p', afterSeq, maxBytes: LOG_PAGE_BYTES, waitMs: 0 });
    expect((await dialer.server(1)).seen).toEqual([
      {
        id: 1,
        method: 'initialize',
        params: { clientName: 'exec-server-client', resumeSessionId: 's' },
      },
      { method: 'initialized', params: {} },
      { id: 2, method: 'process/read', params: read(2) },
      { id: 3, method: 'process/read', params: read(3) },
    ]);
  });

  test('what is pushed before the answer to initialize is put in its place', async () => {
    const pushing = scriptServer(({ id, method }, { send }) => {
      if (method === 'initialize') send(output(3), { id, result: SESSION });
      if (method === 'process/read') send({ id, result: readResult([1, 2], 3) });
      if (method === 'process/read') send({ method: 'process/closed', params: { processId: 'p', seq: 4 } });
    });
    const { client, cut } = await connect([undefined, pushing]);
    const session = client.registerProcess('p');
    await cut(0);
    expect(await all(session.events())).toEqual(['output 1', 'output 2', 'output 3', 'closed 4']);
  });

  test('however much that is', async () => {
    const pushing = scriptServer(({ id, method }, { send }) => {
      if (method === 'initialize') for (let seq = 2; seq <= 400; seq++) send(output(seq));
      if (method === 'initialize') send({ id, result: SESSION });
      if (method === 'process/read') send({ id, result: readResult([1], 2) });
    });
    const { client, cut } = await connect([undefined, pushing]);
    const session = client.registerProcess('p');
    await cut(0);
    await client.ready();
    expect([session.lastSeq, session.isOver]).toEqual([400, false]);
  });

  test('what came early over a connection that was lost as well is read again, with what came behind it', async () => {
    const exited = { processId: 'p', seq: 3, exitCode: 0 };
    const pushing: Answer = ({ method }, { send }) => {
      if (method === 'process/read') send(output(2), { method: 'process/exited', params: exited });
    };
    const { dialer, client, cut } = await connect([
      undefined,
      pushing,
      readsOf(
        readResult([1, 2], 5, { exited: true, exitCode: 0, closed: true }),
        readResult([], 5, { exited: true, exitCode: 0, closed: true }),
      ),
    ]);
    const session = client.registerProcess('p');
    client.on('process/exited', async () =>
      (await dialer.server(1)).far.destroy('cut while the log is read'),
    );
    await cut(0);
    expect(await all(session.events())).toEqual(['output 1', 'output 2', 'exited 3', 'closed 4']);
  });

  test('what the server no longer has is an exact gap, and the process goes on', async () => {
    const { dialer, client, cut } = await connect([
      undefined,
      readsOf(readResult([8], 9), readResult([], 9)),
    ]);
    const session = client.registerProcess('p');
    await cut(0);
    const second = await dialer.server(1);
    await second.find(({ id }) => id === 3);
    second.send(output(9), { method: 'process/closed', params: { processId: 'p', seq: 10 } });
    expect(await all(session.events())).toEqual(['gap 1-7', 'output 8', 'output 9', 'closed 10']);
  });

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

  test('processes of other sessions are attached to again, those that were let go are not', async () => {
    const answer: Answer = ({ id, method }, { send }) => {
      if (method === 'process/attach') send({ id, result: listed('x', 'o') });
      if (method === 'process/detach') send({ id, result: { attached: true } });
    };
    const { dialer, client, cut } = await connect([answer, answer]);
    const session = client.registerProcess('x', { sessionId: 'o', afterSeq: 2 });
    client.registerProcess('y', { sessionId: 'o' });
    await client.attach({ processId: 'x', sessionId: 'o', mode: 'control', afterSeq: 2 });
    await client.attach({ processId: 'y', sessionId: 'o' });
    await client.detach({ processId: 'y', sessionId: 'o' });
    (await dialer.server(0)).send({
      method: 'process/exited',
      params: { processId: 'x', sessionId: 'o', seq: 3, exitCode: 0 },
    });
    await session.events().next();
    await cut(0);
    await client.ready();
    expect((await dialer.server(1)).seen.slice(2)).toEqual([
      {
        id: 2,
        method: 'process/attach',
        params: { processId: 'x', sessionId: 'o', mode: 'control', afterSeq: 3 },
      },
    ]);
  });

  test('a process that is still starting is asked about again', async () => {
    let asked = 0;
    const { client, cut } = await connect([
      undefined,
      ({ id, method }, { send }) => {
        if (method !== 'process/read') return;
        if (++asked === 1) send({ id, error: { code: -32600, message: 'process id p is starting' } });
        else send({ id, result: readResult([], 3, { exited: true, exitCode: 0, closed: true }) });
      },
    ]);
    const session = client.registerProcess('p');
    await cut(0);
    expect(await all(session.events())).toEqual(['exited 1', 'closed 2']);
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
    expect(await all(session.events())).toEqual(['exited 1', 'closed 2']);
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
    expect(await all(p.events())).toEqual([`failed ${message}`]);
    expect(await all(q.events())).toEqual([`failed ${message}`]);
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
    expect(await all(session.events())).toEqual([`failed ${text}`]);
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
    expect(await all(session.events())).toEqual(['failed exec-server transport disconnected: cut']);
    expect(dialer.servers).toHaveLength(1);
  });

  test('stop when the client is closed', async () => {
    const { dialer, client, cut } = await connect([undefined, scriptServer()]);
    const session = client.registerProcess('p');
    await cut(0);
    await (await dialer.server(1)).find(({ method }) => method === 'initialize');
    await client.close();
    expect(await all(session.events())).toEqual([
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
