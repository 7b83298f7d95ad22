import { fixture, type InProcessWire, isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { createExecServer } from '../../src/exec-server.js';
import { requireCgroups } from '../support/cgroups.js';
import { FakeClock } from '../support/fake-clock.js';
import {
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../support/session.js';

const DAEMON = fixture('daemon');

/** Starts a program that leaves a daemon, and tells the daemon's pid once nobody is its parent any more. */
async function startDaemon(wire: InProcessWire, processId: string, changes: object = {}): Promise<number> {
  await wire.request('process/start', startParams(processId, [DAEMON], changes));
  await untilPrinted(wire, processId, 'left');
  return daemonOf(wire, processId);
}

async function daemonOf(wire: InProcessWire, processId: string): Promise<number> {
  const { result } = await wire.request('process/read', { processId, afterSeq: 0 });
  const chunks = result?.chunks as { chunk: string }[];
  const printed = chunks.map(({ chunk }) => atob(chunk)).join('');
  return Number(/left (\d+)/.exec(printed)?.[1]);
}

describe('a daemon that nothing but its cgroup connects with its process', () => {
  it('ends by force, before the answer says so', async (test) => {
    requireCgroups(test);
    const wire = await openSession(openServer());
    const daemon = await startDaemon(wire, 'p');
    const { result } = await wire.request('process/terminate', { processId: 'p' });
    expect(result).toMatchObject({ running: true, pids: expect.arrayContaining([daemon]) });
    expect(isRunning(daemon)).toBe(false);
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });

  it('has the same grace as its process', async (test) => {
    requireCgroups(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    const daemon = await startDaemon(wire, 'p');
    const mode = { graceful: { timeoutMs: 5_000 } };
    const { result } = await wire.request('process/terminate', { processId: 'p', mode });
    expect(result?.pids).toContain(daemon);
    // The process heeds the signal, its daemon does not.
    expect((await untilClosed(wire, 'p')).exitCode).toBe(143);
    clock.advance(4_999);
    expect(isRunning(daemon)).toBe(true);
    clock.advance(1);
    await waitForProcessGone(daemon);
  });

  it('ends when the time of its process is up', async (test) => {
    requireCgroups(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    const daemon = await startDaemon(wire, 'p', { timeoutMs: 1_000 });
    clock.advance(1_000);
    await waitForProcessGone(daemon);
  });

  it('outlives its process, and ends with the session', async (test) => {
    requireCgroups(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    const script = `${DAEMON} & read line; kill $!`;
    await wire.request('process/start', shellParams('p', script, { pipeStdin: true }));
    await untilPrinted(wire, 'p', 'left');
    const daemon = await daemonOf(wire, 'p');
    await wire.request('process/closeStdin', { processId: 'p' });
    await untilClosed(wire, 'p');
    expect(isRunning(daemon)).toBe(true);
    await wire.close();
    clock.advance(30_000);
    await waitForProcessGone(daemon);
  });

  it('is kept with a process that outlives its session, and no longer', async (test) => {
    requireCgroups(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    const daemon = await startDaemon(wire, 'p', { keepAliveMs: 10_000 });
    const bound = await startDaemon(wire, 'q');
    await wire.close();
    clock.advance(30_000);
    await waitForProcessGone(bound);
    expect(isRunning(daemon)).toBe(true);
    clock.advance(10_000);
    await waitForProcessGone(daemon);
  });

  it('ends with the server', async (test) => {
    requireCgroups(test);
    const server = createExecServer();
    const wire = await openSession(server);
    const daemon = await startDaemon(wire, 'p');
    const onTerminal = await startDaemon(wire, 'q', { tty: true });
    await server.close();
    expect([isRunning(daemon), isRunning(onTerminal)]).toEqual([false, false]);
  });

  it('survives on a server that does without cgroups', async () => {
    const wire = await openSession(openServer({ cgroups: false }));
    const daemon = await startDaemon(wire, 'p');
    await wire.request('process/terminate', { processId: 'p' });
    await untilClosed(wire, 'p');
    expect(isRunning(daemon)).toBe(true);
    process.kill(-daemon, 'SIGKILL');
  });
});
