import { describe, expect, test } from 'vitest';
import type { ProcessSession } from '../../src/process-session.js';
import {
  type Answer,
  brief,
  bytes,
  closed,
  exited,
  follow,
  logOf,
  output,
  published,
  take,
} from '../support/followed-process.js';

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
