import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock } from '../../packages/server/test/support/fake-clock.js';
import {
  notificationOf,
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
} from '../../packages/server/test/support/session.js';

const YEAR_MS = 365 * 24 * 3_600_000;

describe.each([
  ['a year ahead', YEAR_MS],
  ['a year back', -YEAR_MS],
])('the wall clock jumps %s', (_, jumpMs) => {
  it('and nothing ends before its time, or never', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const server = openServer();
    const wire = await openSession(server);
    const detached = await openSession(server);
    await wire.request('process/start', startParams('long', ['/bin/sleep', '60'], { timeoutMs: 50_000 }));
    await wire.request('process/start', startParams('short', ['/bin/sleep', '60'], { timeoutMs: 300 }));
    await detached.close();

    vi.setSystemTime(Date.now() + jumpMs);

    expect((await wire.request('process/start', shellParams('p', 'echo hello'))).error).toBeUndefined();
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('hello\n');
    await wire.next(notificationOf('short', 'process/closed'), 'the time-out of a process');
    expect((await wire.request('process/wait', { processId: 'short' })).result).toMatchObject({
      timedOut: true,
    });
    expect((await wire.request('process/read', { processId: 'long' })).result).toMatchObject({
      exited: false,
    });
    expect((await openSession(server, detached.sessionId)).sessionId).toBe(detached.sessionId);
  });
});

it('a machine that slept for a day ends what was due, once, and nothing else', async () => {
  const clock = new FakeClock();
  const server = openServer({ clock });
  const wire = await openSession(server);
  const detached = await openSession(server);
  await wire.request('process/start', startParams('due', ['/bin/sleep', '60'], { timeoutMs: 5_000 }));
  await wire.request('process/start', startParams('stays', ['/bin/sleep', '60']));
  await detached.request('process/start', startParams('p', ['/bin/sleep', '60']));
  await detached.close();

  clock.advance(24 * 3_600_000);

  await wire.next(notificationOf('due', 'process/closed'), 'the end of what was due');
  expect((await wire.request('process/read', { processId: 'stays' })).result).toMatchObject({
    exited: false,
  });
  await expect(openSession(server, detached.sessionId)).rejects.toThrow('unknown session id');
});
