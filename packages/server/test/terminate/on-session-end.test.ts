import { isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { createExecServer } from '../../src/exec-server.js';
import { FakeClock } from '../support/fake-clock.js';
import { openServer, openSession, startParams, untilClosed, untilPrinted } from '../support/session.js';

const sleeper = (processId: string, changes: object = {}) =>
  startParams(processId, ['/bin/sleep', '60'], changes);

async function startSleeper(wire: Awaited<ReturnType<typeof openSession>>, id: string, changes: object = {}) {
  const { result } = await wire.request('process/start', sleeper(id, changes));
  return result?.pid as number;
}

describe('keepAliveMs', () => {
  it('lets a process outlive its session by that much, and no longer', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const owner = await openSession(server);
    const kept = await startSleeper(owner, 'kept', { keepAliveMs: 10_000 });
    const bound = await startSleeper(owner, 'bound');
    await owner.close();
    clock.advance(30_000);
    await waitForProcessGone(bound);
    expect(isRunning(kept)).toBe(true);
    clock.advance(9_999);
    expect(isRunning(kept)).toBe(true);
    clock.advance(1);
    await waitForProcessGone(kept);
    const other = await openSession(server);
    expect((await other.request('process/list', { scope: 'all' })).result).toEqual({ processes: [] });
  });

  it('keeps it listed, attachable and drivable', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const owner = await openSession(server);
    const params = startParams('job', ['/bin/cat'], {
      pipeStdin: true,
      keepAliveMs: 60_000,
      tags: { a: 'b' },
    });
    await owner.request('process/start', params);
    await owner.close();
    clock.advance(30_000);
    const other = await openSession(server);
    const { result } = await other.request('process/list', { scope: 'all', tags: { a: 'b' } });
    expect(result?.processes).toMatchObject([
      { processId: 'job', sessionId: owner.sessionId, running: true },
    ]);
    const target = { processId: 'job', sessionId: owner.sessionId };
    await other.request('process/attach', { ...target, mode: 'control' });
    await other.request('process/write', { ...target, chunk: btoa('hello'), writeId: '1' });
    await untilPrinted(other, 'job', 'hello');
    await other.request('process/closeStdin', target);
    expect((await untilClosed(other, 'job')).exitCode).toBe(0);
  });

  it('does not outlive the server', async () => {
    const clock = new FakeClock();
    const server = createExecServer({ clock });
    const owner = await openSession(server);
    const kept = await startSleeper(owner, 'kept', { keepAliveMs: 1e12 });
    await owner.close();
    clock.advance(30_000);
    await server.close();
    expect(isRunning(kept)).toBe(false);
  });
});
