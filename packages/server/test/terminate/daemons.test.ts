import {
  fixture,
  type InProcessWire,
  isRunning,
  type SkippableTest,
  waitForProcessGone,
} from '@exec-server/testing';
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

describe.each([
  { mode: 'by its cgroup', cgroups: true },
  { mode: 'by its mark, without cgroups,', cgroups: false },
])('a daemon that is found $mode', ({ cgroups }) => {
  const requireMode = (test: SkippableTest) => void (cgroups && requireCgroups(test));

  it('ends by force', async (test) => {
    requireMode(test);
    const wire = await openSession(openServer({ cgroups }));
    const daemon = await startDaemon(wire, 'p');
    const { result } = await wire.request('process/terminate', { processId: 'p' });
    expect(result).toMatchObject({ running: true, pids: expect.arrayContaining([daemon]) });
    // Only a cgroup tells when it is empty, and the answer waits for that.
    if (cgroups) expect(isRunning(daemon)).toBe(false);
    else await waitForProcessGone(daemon);
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });

  it('has the same grace as its process', async (test) => {
    requireMode(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock, cgroups }));
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
    requireMode(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock, cgroups }));
    const daemon = await startDaemon(wire, 'p', { timeoutMs: 1_000 });
    clock.advance(1_000);
    await waitForProcessGone(daemon);
  });

  it('outlives its process, and ends with the session', async (test) => {
    requireMode(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock, cgroups }));
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
    requireMode(test);
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock, cgroups }));
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
    requireMode(test);
    const server = createExecServer({ cgroups });
    const wire = await openSession(server);
    const daemon = await startDaemon(wire, 'p');
    const onTerminal = await startDaemon(wire, 'q', { tty: true });
    await server.close();
    await Promise.all([daemon, onTerminal].map((pid) => waitForProcessGone(pid)));
  });
});
