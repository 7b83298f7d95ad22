import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer, openSession, shellParams, startParams } from '../../support/session.js';

const wait = (processId: string, timeoutMs?: number) => ({ processId, timeoutMs });

describe('process/wait', () => {
  it('answers when the process has ended, and at once after that', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', shellParams('p', 'read x; exit 5', { pipeStdin: true }));
    const waiting = wire.request('process/wait', wait('p'));
    await wire.request('process/write', { processId: 'p', chunk: btoa('go\n'), writeId: '1' });
    const outcome = { running: false, exitCode: 5, signal: null, timedOut: false };
    expect((await waiting).result).toMatchObject(outcome);
    expect((await wire.request('process/wait', wait('p'))).result).toMatchObject(outcome);
  });

  it('names the signal', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', shellParams('p', 'kill -USR1 $$'));
    expect((await wire.request('process/wait', wait('p'))).result).toMatchObject({
      running: false,
      exitCode: 138,
      signal: 'SIGUSR1',
    });
  });

  it('says that it still runs when the time is up', async () => {
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60']));
    const running = { running: true, exitCode: null, signal: null, timedOut: false, closed: false };
    expect((await wire.request('process/wait', wait('p', 0))).result).toEqual(running);
    const waiting = wire.request('process/wait', wait('p', 500));
    await wire.request('environment/status');
    clock.advance(500);
    expect((await waiting).result).toEqual(running);
  });

  it('of an unknown process is an error', async () => {
    const wire = await openSession(openServer());
    expect((await wire.request('process/wait', wait('x'))).error).toMatchObject({
      code: -32600,
      message: 'unknown process id x',
    });
  });
});
