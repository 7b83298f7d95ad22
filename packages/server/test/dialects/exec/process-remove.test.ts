import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer, openSession, shellParams, untilClosed } from '../../support/session.js';

const KEPT = { keepAliveMs: 3_600_000 };
const EXPIRED = { code: -32600, message: 'unknown process id p', data: { code: 'process_expired' } };

describe('the result of a process that is kept alive', () => {
  it.each([
    ['before', 0],
    ['after', 30_000],
  ])('is there when it closed %s the end of its session, for that long', async (_, sessionMs) => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const wire = await openSession(server);
    const other = await openSession(server);
    const target = { processId: 'p', sessionId: wire.sessionId };
    const script = sessionMs === 0 ? 'echo done; exit 3' : 'read -r go; echo done; exit 3';
    await wire.request('process/start', shellParams('p', script, { ...KEPT, pipeStdin: true }));
    if (sessionMs === 0) await untilClosed(wire, 'p');
    await wire.close();
    clock.advance(30_000);
    if (sessionMs > 0) {
      await other.request('process/attach', { ...target, mode: 'control' });
      await other.request('process/write', { ...target, chunk: btoa('go\n'), writeId: '1' });
      await untilClosed(other, 'p');
    }
    clock.advance(3_600_000 - 30_001 + sessionMs);
    const outcome = { running: false, exitCode: 3, closed: true };
    expect((await other.request('process/wait', target)).result).toMatchObject(outcome);
    const { result } = await other.request('process/read', target);
    expect(result?.chunks).toMatchObject([{ chunk: btoa('done\n') }]);
    clock.advance(1);
    expect((await other.request('process/wait', target)).error).toEqual(EXPIRED);
  });

  it('loses its output to that of others, and says so', async () => {
    const wire = await openSession(openServer({ closedProcessOutputBytes: 5000 }));
    for (const id of ['p', 'q']) {
      await wire.request('process/start', shellParams(id, 'head -c 3000 /dev/zero', KEPT));
      await untilClosed(wire, id);
    }
    const waited = await wire.request('process/wait', { processId: 'p' });
    expect(waited.result).toMatchObject({ exitCode: 0, closed: true, outputEvicted: true });
    expect((await wire.request('process/read', { processId: 'p' })).result).toMatchObject({ chunks: [] });
    const { result } = await wire.request('process/snapshot', { processId: 'p' });
    expect(result?.streams).toMatchObject([{ totalBytes: 3000, droppedBytes: 3000 }, { totalBytes: 0 }]);
    expect((await wire.request('process/wait', { processId: 'q' })).result).not.toHaveProperty(
      'outputEvicted',
    );
  });
});

describe('process/remove', () => {
  it('forgets what has ended, also of another session of the same principal, and frees its id', async () => {
    const server = openServer();
    const wire = await openSession(server);
    const other = await openSession(server);
    await wire.request('process/start', shellParams('p', 'true', KEPT));
    await untilClosed(wire, 'p');
    const removed = await other.request('process/remove', { processId: 'p', sessionId: wire.sessionId });
    expect(removed.result).toEqual({});
    for (const method of ['process/remove', 'process/read', 'process/wait', 'process/snapshot'])
      expect((await wire.request(method, { processId: 'p' })).error).toEqual(EXPIRED);
    expect((await wire.request('process/start', shellParams('p', 'true'))).result).toBeDefined();
  });

  it('refuses what runs, what is held open, and what was never there', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', shellParams('p', 'sleep 60'));
    expect((await wire.request('process/remove', { processId: 'p' })).error).toMatchObject({
      code: -32600,
      message: 'process p is running; terminate it first',
    });
    await wire.request('process/start', shellParams('q', 'sleep 60 & exit 0'));
    await wire.request('process/wait', { processId: 'q' });
    expect((await wire.request('process/remove', { processId: 'q' })).error).toMatchObject({
      code: -32600,
      message: 'process q has ended, but others hold its output open; terminate it first',
    });
    expect((await wire.request('process/remove', { processId: 'x' })).error).toMatchObject({
      code: -32600,
      message: 'unknown process id x',
    });
  });
});
