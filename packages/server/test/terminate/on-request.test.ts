import { fixture, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import {
  notificationOf,
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../support/session.js';

const graceful = (processId: string, timeoutMs: number) => ({ processId, mode: { graceful: { timeoutMs } } });

async function firstPid(wire: Awaited<ReturnType<typeof openSession>>, processId: string): Promise<number> {
  const { params } = await wire.next(notificationOf(processId, 'process/output'), 'a pid');
  return Number(atob(params?.chunk as string));
}

describe('terminate by force', () => {
  it('tells who was signalled', async () => {
    const wire = await openSession(openServer());
    const { result: started } = await wire.request(
      'process/start',
      startParams('p', [fixture('setsid-grandchild')]),
    );
    const grandchild = await firstPid(wire, 'p');
    const { result } = await wire.request('process/terminate', { processId: 'p', mode: 'force' });
    expect(result?.running).toBe(true);
    expect(result?.pids).toEqual(expect.arrayContaining([started?.pid, grandchild]));
    await waitForProcessGone(grandchild);
    await untilClosed(wire, 'p');
    expect((await wire.request('process/terminate', { processId: 'p' })).result).toEqual({
      running: false,
      pids: [],
    });
  });

  it('reaches programs that start new sessions faster than one can look', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', startParams('p', [fixture('fork-storm')]));
    await untilPrinted(wire, 'p', 'storm');
    await wire.request('process/terminate', { processId: 'p' });
    // The storm holds stdout open: its end is the end of everybody in it.
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });
});

describe('terminate with grace', () => {
  it('lets a program end in its own way', async () => {
    const wire = await openSession(openServer());
    const script = 'trap "echo bye; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
    await wire.request('process/start', shellParams('p', script));
    await untilPrinted(wire, 'p', 'ready');
    const { result } = await wire.request('process/terminate', graceful('p', 60_000));
    expect(result).toMatchObject({ running: true });
    expect(await untilClosed(wire, 'p')).toMatchObject({ exitCode: 9 });
  });

  it('kills what is left when the time is over, in whatever session', async () => {
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    await wire.request('process/start', startParams('p', [fixture('ignore-sigterm-family')]));
    const grandchild = await firstPid(wire, 'p');
    await wire.request('process/terminate', graceful('p', 5_000));
    clock.advance(4_999);
    expect((await wire.request('process/wait', { processId: 'p', timeoutMs: 0 })).result).toMatchObject({
      running: true,
    });
    clock.advance(1);
    await waitForProcessGone(grandchild);
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });
});

describe('terminate of what has ended', () => {
  it('lets be what it left running, unless asked to end that too', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', shellParams('p', 'sleep 300 >/dev/null 2>&1 & echo $!'));
    const left = await firstPid(wire, 'p');
    await untilClosed(wire, 'p');
    const plain = await wire.request('process/terminate', { processId: 'p' });
    expect(plain.result).toEqual({ running: false, pids: [] });
    const { result } = await wire.request('process/terminate', {
      processId: 'p',
      leftovers: true,
      wait: true,
    });
    expect(result).toEqual({ running: false, pids: [left] });
    await waitForProcessGone(left);
  });
});
