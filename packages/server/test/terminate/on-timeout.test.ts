import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import {
  notificationOf,
  openServer,
  openSession,
  shellParams,
  startParams,
  untilPrinted,
} from '../support/session.js';

async function open() {
  const clock = new FakeClock();
  return { clock, wire: await openSession(openServer({ clock })) };
}

describe('timeoutMs', () => {
  it('ends the process when its time is up, and says so', async () => {
    const { clock, wire } = await open();
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60'], { timeoutMs: 1_000 }));
    clock.advance(999);
    expect((await wire.request('process/wait', { processId: 'p', timeoutMs: 0 })).result).toMatchObject({
      running: true,
    });
    clock.advance(1);
    const { params } = await wire.next(notificationOf('p', 'process/exited'), 'the exit');
    expect(params).toMatchObject({ exitCode: 137, signal: 'SIGKILL', timedOut: true });
    const { result } = await wire.request('process/read', { processId: 'p' });
    expect(result).toMatchObject({ exited: true, signal: 'SIGKILL', timedOut: true });
  });

  it('leaves a process alone that ended before', async () => {
    const { clock, wire } = await open();
    await wire.request('process/start', shellParams('p', 'exit 0', { timeoutMs: 1_000 }));
    const { params } = await wire.next(notificationOf('p', 'process/exited'), 'the exit');
    expect(params).toMatchObject({ exitCode: 0, signal: null, timedOut: false });
    await wire.next(notificationOf('p', 'process/closed'), 'the end');
    // What is left is the memory of the closed process, not the timeout.
    expect(clock.pendingTimers).toBe(1);
  });

  it('asks first where there is grace', async () => {
    const { clock, wire } = await open();
    const script = 'trap "echo bye; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
    await wire.request('process/start', shellParams('p', script, { timeoutMs: 1_000, graceMs: 5_000 }));
    await untilPrinted(wire, 'p', 'ready');
    clock.advance(1_000);
    await untilPrinted(wire, 'p', 'bye');
    const { params } = await wire.next(notificationOf('p', 'process/exited'), 'the exit');
    expect(params).toMatchObject({ exitCode: 9, signal: null, timedOut: true });
  });

  it('grace without a timeout is refused', async () => {
    const { wire } = await open();
    const { error } = await wire.request('process/start', startParams('p', ['/bin/true'], { graceMs: 1 }));
    expect(error).toMatchObject({ code: -32602, message: 'graceMs requires timeoutMs' });
  });
});
