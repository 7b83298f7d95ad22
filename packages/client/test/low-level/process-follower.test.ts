import { encodeBase64 } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { LaggedError } from '../../src/errors.js';
import { MAX_HISTORY_EVENTS } from '../../src/low-level/event-history.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { MAX_WRITE_BYTES } from '../../src/low-level/stdin-writes.js';
import type { ProcessEvent } from '../../src/process-event.js';
import type { ProcessSession } from '../../src/process-session.js';
import { type ScriptedServer, type SeenMessage, scriptAcceptingServer } from '../support/scripted-server.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const output = (seq: number, text = `${seq}`, processId = 'p') => ({
  method: 'process/output',
  params: { processId, seq, stream: 'stdout', chunk: encodeBase64(bytes(text)) },
});
const exited = (seq: number, processId = 'p') => ({
  method: 'process/exited',
  params: { processId, seq, exitCode: 3 },
});
const closed = (seq: number, processId = 'p') => ({ method: 'process/closed', params: { processId, seq } });
const chunk = (seq: number) => ({ seq, stream: 'stdout', chunk: encodeBase64(bytes(`${seq}`)) });

function brief(event: ProcessEvent): string {
  if (event.type === 'gap') return `gap ${event.fromSeq}-${event.toSeq}`;
  return event.type === 'failed' ? `failed ${event.message}` : `${event.type} ${event.seq}`;
}

/** Takes `count` events, or all. */
async function take(events: AsyncIterable<ProcessEvent>, count = Number.POSITIVE_INFINITY) {
  const taken: string[] = [];
  if (count === 0) return taken;
  for await (const event of events) {
    taken.push(brief(event));
    if (taken.length === count) break;
  }
  return taken;
}

/** Resolves when the event of that number was published. */
function published(session: ProcessSession, seq: number): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (session.lastSeq >= seq) resolve();
    };
    session.listen(check);
    check();
  });
}

type Answer = (message: SeenMessage, server: ScriptedServer) => void;

async function follow(answer?: Answer, options: ConstructorParameters<typeof ExecServerClient>[1] = {}) {
  const server = scriptAcceptingServer(
    { sessionId: 's', environmentInfo: { shell: { name: 'sh', path: 'sh' } } },
    answer,
  );
  const client = await ExecServerClient.connect(server.transport, options);
  return { server, client, session: client.registerProcess('p') };
}

/** Answers `process/read` as a server whose log has the given numbers would. */
const logOf =
  (seqs: readonly number[], nextSeq: number, more: object = {}): Answer =>
  ({ id, method, params }, { send }) => {
    if (method !== 'process/read') return;
    const { afterSeq = 0 } = params as { afterSeq?: number };
    const chunks = seqs.filter((seq) => seq > afterSeq).map(chunk);
    const last = chunks.at(-1);
    send({
      id,
      result: {
        chunks,
        nextSeq: last === undefined ? nextSeq : last.seq + 1,
        exited: false,
        exitCode: null,
        closed: false,
        failure: null,
        ...more,
      },
    });
  };

describe('registration', () => {
  test('sends nothing, and each process has one', async () => {
    const { server, client } = await follow();
    expect(() => client.registerProcess('p')).toThrow(
      expect.objectContaining({ code: 'usage', message: 'session already registered for process p' }),
    );
    client.registerProcess('q');
    client.registerProcess('p', { sessionId: 'other' });
    await client.close();
    expect(server.seen.map(({ method }) => method)).toEqual(['initialize', 'initialized']);
  });

  test('may be repeated once it was given up', async () => {
    const { server, client, session } = await follow();
    const iteration = take(session.events());
    session.unregister();
    session.unregister();
    expect(await iteration).toEqual([]);
    const again = client.registerProcess('p');
    server.send(output(1), closed(2));
    expect(await take(again.events())).toEqual(['output 1', 'closed 2']);
    expect(session.lastSeq).toBe(0);
  });

  test('tells processes of other sessions apart by their session', async () => {
    const { server, client, session } = await follow();
    const other = client.registerProcess('p', { sessionId: 'other' });
    const own = client.registerProcess('q', { sessionId: 's' });
    const { method, params } = output(1, 'theirs');
    server.send(
      { method, params: { ...params, sessionId: 'other' } },
      output(1, 'ours'),
      output(1, 'q', 'q'),
    );
    await Promise.all([published(session, 1), published(other, 1), published(own, 1)]);
    const first = async (of: ProcessSession) => (await of.events().next()).value as { data: Uint8Array };
    const texts = [await first(other), await first(session), await first(own)];
    expect(texts.map(({ data }) => new TextDecoder().decode(data))).toEqual(['theirs', 'ours', 'q']);
  });
});

describe('events', () => {
  test('come in order whatever the order of arrival, closed last', async () => {
    const { server, session } = await follow();
    server.send(closed(4), exited(3), output(2), output(1), output(1));
    expect(await take(session.events())).toEqual(['output 1', 'output 2', 'exited 3', 'closed 4']);
    expect([session.lastSeq, session.isOver]).toEqual([4, true]);
  });

  test('of an older server have no more about the exit than it tells', async () => {
    const { server, session } = await follow();
    server.send(exited(1), closed(2));
    const { value } = await session.events().next();
    expect(value).toEqual({
      type: 'exited',
      seq: 1,
      exitCode: 3,
      signal: undefined,
      timedOut: false,
      sandboxDenied: undefined,
    });
  });

  test('are told to listeners and to iterators, late ones included', async () => {
    const { server, session } = await follow();
    const heard: string[] = [];
    const early = take(session.events());
    const stop = session.listen((event) => heard.push(brief(event)));
    server.send(output(1), output(2));
    await published(session, 2);
    stop();
    server.send(closed(3));
    expect(await early).toEqual(['output 1', 'output 2', 'closed 3']);
    expect(await take(session.events())).toEqual(['output 1', 'output 2', 'closed 3']);
    expect(await take(session.events({ afterSeq: 1 }))).toEqual(['output 2', 'closed 3']);
    expect(heard).toEqual(['output 1', 'output 2']);
  });

  test('too many that wait for an earlier one fail the process, and no other', async () => {
    const { server, client, session } = await follow();
    const quiet = client.registerProcess('q');
    server.send(...Array.from({ length: 257 }, (_, index) => output(index + 2)), closed(1, 'q'));
    expect(await take(session.events())).toEqual(['failed process event reorder buffer exceeds 256 entries']);
    expect(await take(quiet.events())).toEqual(['closed 1']);
    expect(await session.read()).toEqual({
      chunks: [],
      nextSeq: 1,
      exited: true,
      exitCode: null,
      closed: true,
      failure: 'process event reorder buffer exceeds 256 entries',
    });
  });

  test('a storm of one process does not keep back the end of another', async () => {
    const { server, client, session } = await follow();
    const quiet = client.registerProcess('q');
    const slow = session.events();
    server.send(...Array.from({ length: 5_000 }, (_, index) => output(index + 1)), closed(1, 'q'));
    expect(await take(quiet.events())).toEqual(['closed 1']);
    await slow.return?.();
  });

  test('an iteration ends with its signal, and by being left', async () => {
    const { server, session } = await follow();
    const controller = new AbortController();
    const events = take(session.events({ signal: controller.signal }));
    server.send(output(1));
    await published(session, 1);
    controller.abort();
    expect(await take(session.events({ signal: controller.signal }))).toEqual([]);
    expect((await events).length).toBeLessThanOrEqual(1);
    expect(await take(session.events(), 1)).toEqual(['output 1']);
  });

  test('several may be asked for at once', async () => {
    const { server, session } = await follow();
    const events = session.events();
    const asked = [events.next(), events.next(), events.next(), events.next()];
    server.send(output(1), output(2), closed(3));
    const results = await Promise.all(asked);
    expect(results.map(({ done }) => done)).toEqual([false, false, false, true]);
  });
});

describe('an iterator that falls behind', () => {
  const COUNT = MAX_HISTORY_EVENTS + 44;
  const all = Array.from({ length: COUNT }, (_, index) => index + 1);

  /** Until the event of that number was published, and the turn over in which a reader could have taken it. */
  async function missed(session: ProcessSession, seq: number): Promise<void> {
    await published(session, seq);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }

  test('goes on from the log of the server', async () => {
    const { server, session } = await follow(logOf(all, COUNT + 1));
    const events = session.events();
    server.send(...all.map((seq) => output(seq)), closed(COUNT + 1));
    await missed(session, COUNT + 1);
    expect(await take(events)).toEqual([...all.map((seq) => `output ${seq}`), `closed ${COUNT + 1}`]);
  });

  test('finds the exit between what the log has', async () => {
    const outputs = all.filter((seq) => seq !== 7);
    const { server, session } = await follow(logOf(outputs, COUNT + 1));
    const events = session.events();
    server.send(...all.map((seq) => (seq === 7 ? exited(7) : output(seq))));
    await missed(session, COUNT);
    expect((await take(events, 9)).slice(5)).toEqual(['output 6', 'exited 7', 'output 8', 'output 9']);
  });

  test('is told exactly what it missed, and can go on behind it', async () => {
    // The history begins with 45, the log with 11.
    const { server, session } = await follow(logOf(all.slice(10), COUNT + 1));
    const events = session.events({ afterSeq: 0 });
    server.send(...all.map((seq) => output(seq)), closed(COUNT + 1));
    await missed(session, COUNT + 1);
    const failure = await events.next().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LaggedError);
    expect(failure).toMatchObject({ code: 'lagged', fromSeq: 1, toSeq: 10 });
    expect((await events.next()).done).toBe(true);
    expect(await take(session.events({ afterSeq: 10 }), 2)).toEqual(['output 11', 'output 12']);
  });

  test('begins with a gap when it asked for all there is', async () => {
    const { server, session } = await follow(logOf(all.slice(10), COUNT + 1));
    server.send(...all.map((seq) => output(seq)));
    await missed(session, COUNT);
    expect(await take(session.events(), 2)).toEqual(['gap 1-10', 'output 11']);
  });

  test('misses what nobody can tell it any more', async () => {
    const { server, session } = await follow();
    const events = session.events({ afterSeq: 0 });
    server.send(...all.map((seq) => output(seq)));
    await missed(session, COUNT);
    server.far.destroy('cut');
    const failure = await events.next().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'lagged', fromSeq: 1, toSeq: 44 });
    expect((failure as LaggedError).cause).toMatchObject({ code: 'connection_lost' });
    expect((await take(session.events({ afterSeq: 44 }))).at(-1)).toBe(
      'failed exec-server transport disconnected: cut',
    );
  });

  test('has not fallen behind because much came at once', async () => {
    const { server, session } = await follow();
    const taken = take(session.events({ afterSeq: 0 }));
    server.send(...all.map((seq) => output(seq)), closed(COUNT + 1));
    expect(await taken).toEqual([...all.map((seq) => `output ${seq}`), `closed ${COUNT + 1}`]);
    expect(server.seen.some(({ method }) => method === 'process/read')).toBe(false);
  });

  test('holds up the connection instead, where that is wanted', async () => {
    const { server, session } = await follow(undefined, { slowReader: 'pause' });
    const events = session.events();
    const many = Array.from({ length: 2_000 }, (_, index) => index + 1);
    for (const seq of many) server.send(output(seq));
    server.send(closed(2_001));
    await published(session, MAX_HISTORY_EVENTS);
    expect(await take(events)).toEqual([...many.map((seq) => `output ${seq}`), 'closed 2001']);
    expect(server.seen.some(({ method }) => method === 'process/read')).toBe(false);
  });
});

describe('a transport that cannot be made again', () => {
  test('ends every process behind what has arrived, and the first reason stays', async () => {
    const { server, client, session } = await follow();
    const other = client.registerProcess('q');
    const read = session.read({ waitMs: 60_000 });
    await server.find(({ method }) => method === 'process/read');
    server.send(output(1), output(3));
    await published(session, 1);
    server.far.destroy('cut');
    const text = 'exec-server transport disconnected: cut';
    expect(await take(session.events())).toEqual(['output 1', `failed ${text}`]);
    expect(await take(other.events())).toEqual([`failed ${text}`]);
    expect(await read).toMatchObject({
      chunks: [],
      exited: true,
      exitCode: null,
      closed: true,
      failure: text,
    });
    expect(await client.read({ processId: 'p' })).toMatchObject({ failure: text, nextSeq: 2 });
    await client.close();
    expect(await session.read()).toMatchObject({ failure: text });
    expect(() => client.registerProcess('r')).toThrow(expect.objectContaining({ code: 'connection_lost' }));
    await expect(session.write(bytes('x'))).rejects.toMatchObject({ code: 'connection_lost', lastSeq: 1 });
  });

  test('has no reason to tell when it ended cleanly', async () => {
    const { server, session } = await follow();
    server.far.close();
    expect(await take(session.events())).toEqual(['failed exec-server transport disconnected']);
  });

  test('is lost, too, when a call says so', async () => {
    const { client, session } = await follow(({ id, method }, { send }) => {
      if (method === 'process/list')
        send({ id, error: { code: -32000, message: 'JSON-RPC transport closed' } });
    });
    await expect(client.list({})).rejects.toMatchObject({ code: 'connection_lost' });
    expect(await take(session.events())).toEqual(['failed exec-server transport disconnected']);
  });

  test('a process that was over is left as it was', async () => {
    const { server, session } = await follow();
    server.send(closed(1));
    await published(session, 1);
    server.far.destroy('cut');
    expect(await take(session.events())).toEqual(['closed 1']);
  });
});

describe('writes', () => {
  const accept: Answer = ({ id, method }, { send }) => {
    if (method === 'process/write') send({ id, result: { status: 'accepted' } });
  };
  const writesOf = (server: ScriptedServer) =>
    server.seen
      .filter(({ method }) => method === 'process/write')
      .map(({ params }) => params as { writeId: string; chunk: string });

  test('are numbered from 1 and one after the other', async () => {
    const { server, session } = await follow(accept);
    await Promise.all([session.write(bytes('a')), session.write(bytes('b'))]);
    expect(writesOf(server)).toEqual([
      { processId: 'p', writeId: '1', chunk: 'YQ==' },
      { processId: 'p', writeId: '2', chunk: 'Yg==' },
    ]);
  });

  test.each([
    [MAX_WRITE_BYTES - 1, 1],
    [MAX_WRITE_BYTES, 1],
    [MAX_WRITE_BYTES + 1, 2],
  ])('%i bytes go in %i pieces', async (size, pieces) => {
    const { server, session } = await follow(accept);
    await session.write(new Uint8Array(size));
    expect(writesOf(server)).toHaveLength(pieces);
  });

  test('stop at the piece that was not accepted', async () => {
    const { server, session } = await follow(({ id, method }, { send }) => {
      if (method === 'process/write') send({ id, result: { status: 'stdinClosed' } });
    });
    expect(await session.write(new Uint8Array(MAX_WRITE_BYTES + 1))).toEqual({ status: 'stdinClosed' });
    expect(writesOf(server)).toHaveLength(1);
  });

  test('have ids of their own where others may have written', async () => {
    const { server, client } = await follow(accept);
    await client.registerProcess('x', { sessionId: 'other' }).write(bytes('a'));
    expect(writesOf(server)[0]).toMatchObject({ processId: 'x', sessionId: 'other' });
    expect(writesOf(server)[0]?.writeId).toMatch(/^[0-9a-f]{32}-1$/);
  });

  test('cannot close stdin where the server cannot', async () => {
    const { server, session } = await follow(accept);
    await expect(session.write(bytes('a'), { closeStdin: true })).rejects.toMatchObject({
      code: 'capability_missing',
      capability: 'processCloseStdin',
    });
    expect(writesOf(server)).toEqual([]);
  });

  test('one that fails does not keep back the next', async () => {
    let first = true;
    const { session } = await follow(({ id, method }, { send }) => {
      if (method !== 'process/write') return;
      send(first ? { id, error: { code: -32603, message: 'no' } } : { id, result: { status: 'accepted' } });
      first = false;
    });
    await expect(session.write(bytes('a'))).rejects.toMatchObject({ code: 'rejected' });
    expect(await session.write(bytes('b'))).toEqual({ status: 'accepted' });
  });
});

describe('catching up', () => {
  test('learns what happened before the process was followed', async () => {
    const { session } = await follow(logOf([3, 4], 7, { exited: true, exitCode: 5, closed: true }));
    await session.catchUp();
    expect(await take(session.events())).toEqual(['gap 1-2', 'output 3', 'output 4', 'exited 5', 'closed 6']);
  });

  test('a process that the server has forgotten has failed, one that it never had has not', async () => {
    const forget: Answer = ({ id, method }, { send }) => {
      if (method === 'process/read') send({ id, error: { code: -32600, message: 'unknown process id p' } });
    };
    const { server, session } = await follow(forget);
    await session.catchUp();
    expect(session.isOver).toBe(false);
    server.send(output(1));
    await published(session, 1);
    await session.catchUp();
    expect(await take(session.events({ afterSeq: 1 }))).toEqual([
      'failed process p is no longer known to the server; what became of it is unknown',
    ]);
  });

  test('a process whose exit is known and that is forgotten has failed to say what came behind it', async () => {
    const { server, session } = await follow(({ id, method }, { send }) => {
      if (method === 'process/read') send({ id, error: { code: -32600, message: 'unknown process id p' } });
    });
    server.send(exited(1));
    await published(session, 1);
    await session.catchUp();
    expect(await take(session.events())).toEqual([
      'exited 1',
      'failed process p is no longer known to the server; what it wrote behind its exit is unknown',
    ]);
  });

  test('keeps more than usual of what is pushed meanwhile', async () => {
    const { server, session } = await follow((message, { send }) => {
      if (message.method !== 'process/read') return;
      for (let seq = 11; seq <= 310; seq++) send(output(seq));
      logOf(
        Array.from({ length: 10 }, (_, index) => index + 1),
        11,
      )(message, server);
    });
    await session.catchUp();
    expect([session.lastSeq, session.isOver]).toEqual([310, false]);
    expect(server.seen.filter(({ method }) => method === 'process/read')).toHaveLength(1);
  });

  test('lets go of what is pushed too far ahead, and reads it from the log', async () => {
    const mebibyte = 'x'.repeat(1024 * 1024);
    const log = Array.from({ length: 20 }, (_, index) => index + 1);
    let reads = 0;
    const { session } = await follow((message, server) => {
      if (message.method !== 'process/read') return;
      if (++reads === 1) for (const seq of log.slice(2)) server.send(output(seq, mebibyte));
      // The first answer is of the moment before all that was pushed.
      logOf(reads === 1 ? [1] : log, reads === 1 ? 2 : 21)(message, server);
    });
    await session.catchUp();
    expect([session.lastSeq, session.isOver]).toEqual([20, false]);
  });
});

test('events that a viewer was not told are a gap', async () => {
  const { server, client } = await follow();
  const session = client.registerProcess('x', { sessionId: 'other', afterSeq: 4 });
  server.send(
    { method: 'process/lagged', params: { processId: 'x', sessionId: 'other', fromSeq: 5, toSeq: 9 } },
    { method: 'process/closed', params: { processId: 'x', sessionId: 'other', seq: 10 } },
  );
  expect(await take(session.events())).toEqual(['gap 5-9', 'closed 10']);
});
