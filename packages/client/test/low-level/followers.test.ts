import { describe, expect, test } from 'vitest';
import { LOG_PAGE_BYTES } from '../../src/low-level/read-log.js';
import { type Answer, output, take } from '../support/followed-process.js';
import { scriptServer } from '../support/scripted-server.js';
import { connect, listed, readResult, readsOf, SESSION } from '../support/scripted-session.js';

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
    expect(await take(over.events())).toEqual(['closed 1']);
    const events = session.events();
    await events.next();
    await events.next();
    await cut(0);
    expect(await take(events)).toEqual(['output 3', 'exited 4', 'closed 5']);
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
    expect(await take(session.events())).toEqual(['output 1', 'output 2', 'output 3', 'closed 4']);
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
    expect(await take(session.events())).toEqual(['output 1', 'output 2', 'exited 3', 'closed 4']);
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
    expect(await take(session.events())).toEqual(['gap 1-7', 'output 8', 'output 9', 'closed 10']);
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
    expect(await take(session.events())).toEqual(['exited 1', 'closed 2']);
  });
});
