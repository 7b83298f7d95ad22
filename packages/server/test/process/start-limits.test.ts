import { describe, expect, it } from 'vitest';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../support/session.js';

const sleep = (processId: string) => startParams(processId, ['/bin/sleep', '60']);
const serverFull = { code: -32600, message: 'the server runs its limit of 2 processes' };
const sessionFull = { code: -32600, message: 'this session has its limit of 2 processes' };

describe('the limit of the server', () => {
  it('is reached with the last process that fits, whosever it is', async () => {
    const server = openServer({ maxProcesses: 2 });
    const [a, b] = [await openSession(server), await openSession(server)];
    expect((await a.request('process/start', sleep('1'))).result).toBeDefined();
    expect((await b.request('process/start', sleep('2'))).result).toBeDefined();
    expect((await a.request('process/start', sleep('3'))).error).toMatchObject(serverFull);
    expect((await b.request('process/start', sleep('3'))).error).toMatchObject(serverFull);
  });

  it('counts what outlives its session', async () => {
    const server = openServer({ maxProcesses: 2, detachedSessionMs: 0 });
    const [a, b] = [await openSession(server), await openSession(server)];
    for (const id of ['1', '2'])
      await a.request('process/start', startParams(id, ['/bin/sleep', '60'], { keepAliveMs: 60_000 }));
    await a.close();
    expect((await b.request('process/start', sleep('3'))).error).toMatchObject(serverFull);
  });
});

describe('the limit of a session', () => {
  const open = () => openSession(openServer({ maxProcessesPerConnection: 2 }));

  it('is its own', async () => {
    const server = openServer({ maxProcessesPerConnection: 2 });
    const [a, b] = [await openSession(server), await openSession(server)];
    for (const id of ['1', '2']) expect((await a.request('process/start', sleep(id))).result).toBeDefined();
    expect((await a.request('process/start', sleep('3'))).error).toMatchObject(sessionFull);
    expect((await b.request('process/start', sleep('3'))).result).toBeDefined();
  });

  it('counts starts under way', async () => {
    const wire = await open();
    const answers = await Promise.all(['1', '2', '3'].map((id) => wire.request('process/start', sleep(id))));
    expect(answers.map(({ error }) => error)).toMatchObject([undefined, undefined, sessionFull]);
  });

  it('does not count what has ended, though it can still be read', async () => {
    const wire = await open();
    await wire.request('process/start', sleep('1'));
    await wire.request('process/start', shellParams('2', 'echo done'));
    await untilClosed(wire, '2');
    expect((await wire.request('process/start', sleep('3'))).result).toBeDefined();
    expect((await wire.request('process/start', sleep('4'))).error).toMatchObject(sessionFull);
    expect((await wire.request('process/read', { processId: '2' })).result).toMatchObject({ closed: true });
  });

  it('does not count starts that failed, and frees the id that it refuses', async () => {
    const wire = await open();
    await wire.request('process/start', sleep('1'));
    await wire.request('process/start', startParams('x', ['/nonexistent']));
    expect((await wire.request('process/start', sleep('2'))).result).toBeDefined();
    expect((await wire.request('process/start', sleep('3'))).error).toMatchObject(sessionFull);
    await wire.request('process/terminate', { processId: '1' });
    await untilClosed(wire, '1');
    expect((await wire.request('process/start', sleep('3'))).result).toBeDefined();
  });

  it('comes after an id that is taken', async () => {
    const wire = await open();
    for (const id of ['1', '2']) await wire.request('process/start', sleep(id));
    expect((await wire.request('process/start', sleep('2'))).error?.message).toBe('process 2 already exists');
  });
});
