import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../../support/session.js';

const sleeper = (id: string, more: object = {}) =>
  startParams(id, ['/bin/sleep', '60'], { startKey: 'job 1', ...more });

describe('startKey', () => {
  it('the same key again answers with the same process and starts nothing', async () => {
    const wire = await openSession(openServer());
    const first = await wire.request('process/start', sleeper('a'));
    const again = await wire.request('process/start', sleeper('a'));
    const other = await wire.request('process/start', sleeper('b'));
    expect(first.result).toMatchObject({ processId: 'a' });
    expect(first.result).not.toHaveProperty('existing');
    expect(again.result).toEqual({ ...first.result, existing: true });
    expect(other.result).toEqual(again.result);
    const { result } = await wire.request('process/list', {});
    expect(result?.processes).toHaveLength(1);
  });

  it('starts that come together are one', async () => {
    const wire = await openSession(openServer());
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((id) => wire.request('process/start', sleeper(id))),
    );
    expect(new Set(answers.map(({ result }) => result?.pid)).size).toBe(1);
  });

  it('tells the session of a process that another session has', async () => {
    const server = openServer();
    const [one, other] = [await openSession(server), await openSession(server)];
    const { result } = await one.request('process/start', sleeper('a'));
    expect((await other.request('process/start', sleeper('a'))).result).toEqual({
      ...result,
      existing: true,
      sessionId: one.sessionId,
    });
  });

  it('is the principal\u2019s own', async () => {
    const server = openServer();
    const wire = await openSession(server);
    const stranger = openInProcessWire(server, { principal: { kind: 'custom', subject: 'somebody else' } });
    await stranger.request('initialize', { clientName: 'test' });
    stranger.send({ method: 'initialized' });
    const mine = await wire.request('process/start', sleeper('a'));
    const theirs = await stranger.request('process/start', sleeper('a'));
    expect(theirs.result).not.toHaveProperty('existing');
    expect(theirs.result?.pid).not.toBe(mine.result?.pid);
  });

  it('is kept for as long as the process can be read, and free after', async () => {
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    const params = shellParams('a', 'exit 3', { startKey: 'k' });
    const first = await wire.request('process/start', params);
    await untilClosed(wire, 'a');
    clock.advance(29_999);
    expect((await wire.request('process/start', params)).result).toEqual({ ...first.result, existing: true });
    clock.advance(1);
    expect((await wire.request('process/start', params)).result).not.toHaveProperty('existing');
  });

  it('is free after a start that failed', async () => {
    const wire = await openSession(openServer());
    const failing = startParams('a', ['/nonexistent/program'], { startKey: 'job 1' });
    expect((await wire.request('process/start', failing)).error).toBeDefined();
    expect((await wire.request('process/start', sleeper('a'))).result).not.toHaveProperty('existing');
  });

  it('does not get in the way of an id that is taken', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', sleeper('a', { startKey: 'one' }));
    const { error } = await wire.request('process/start', sleeper('a', { startKey: 'two' }));
    expect(error).toMatchObject({ code: -32600 });
    expect(
      (await wire.request('process/start', sleeper('b', { startKey: 'two' }))).result,
    ).not.toHaveProperty('existing');
  });

  it.each([
    [1023, true],
    [1024, true],
    [1025, false],
  ])('a key of %i characters is taken: %s', async (characters, taken) => {
    const wire = await openSession(openServer());
    const { error } = await wire.request('process/start', sleeper('a', { startKey: 'k'.repeat(characters) }));
    expect(error?.code).toBe(taken ? undefined : -32602);
  });

  it('means nothing on a server without it', async () => {
    const wire = await openSession(openServer({ disabledCapabilities: ['processStartKey'] }));
    await wire.request('process/start', sleeper('a'));
    expect((await wire.request('process/start', sleeper('b'))).result).not.toHaveProperty('existing');
  });
});
