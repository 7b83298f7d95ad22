import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../../support/session.js';

interface Listed {
  readonly processId: string;
  readonly [member: string]: unknown;
}

const idsOf = (result: Record<string, unknown> | undefined) =>
  ((result?.processes ?? []) as Listed[]).map(({ processId }) => processId);

describe('process/list', () => {
  it('tells what runs and what has ended, oldest first', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', shellParams('done', 'exit 3', { tags: { role: 'test' } }));
    await untilClosed(wire, 'done');
    const { result: started } = await wire.request('process/start', startParams('web', ['/bin/sleep', '60']));
    const { result } = await wire.request('process/list', {});
    expect(idsOf(result)).toEqual(['done', 'web']);
    expect(result?.processes).toMatchObject([
      {
        argv: ['/bin/sh', '-c', 'exit 3'],
        tags: { role: 'test' },
        running: false,
        exitCode: 3,
        closed: true,
      },
      {
        sessionId: wire.sessionId,
        pid: started?.pid,
        cwd: 'file:///tmp',
        tty: false,
        tags: {},
        running: true,
      },
    ]);
  });

  it.each([
    [65_535, true],
    [65_536, true],
    [65_537, false],
  ])('tags of %i characters are taken: %s', async (characters, taken) => {
    const wire = await openSession(openServer());
    const tags = { t: 'x'.repeat(characters - 1) };
    const { error } = await wire.request('process/start', shellParams('p', 'true', { tags }));
    expect(error === undefined).toBe(taken);
  });

  it('finds by tags', async () => {
    const wire = await openSession(openServer());
    const start = (id: string, tags: object) =>
      wire.request('process/start', startParams(id, ['/bin/sleep', '60'], { tags }));
    await start('a', { role: 'web', zone: '1' });
    await start('b', { role: 'web', zone: '2' });
    await start('c', {});
    const list = async (tags: object) => idsOf((await wire.request('process/list', { tags })).result);
    expect(await list({ role: 'web' })).toEqual(['a', 'b']);
    expect(await list({ role: 'web', zone: '2' })).toEqual(['b']);
    expect(await list({ role: 'db' })).toEqual([]);
  });

  it('shows other sessions of the same principal only when asked, and those of others never', async () => {
    const server = openServer();
    const [mine, alsoMine] = [await openSession(server), await openSession(server)];
    const stranger = openInProcessWire(server, { principal: { kind: 'custom', subject: 'somebody else' } });
    await stranger.request('initialize', { clientName: 'test' });
    stranger.send({ method: 'initialized' });
    await mine.request('process/start', startParams('m', ['/bin/sleep', '60']));
    await alsoMine.request('process/start', startParams('n', ['/bin/sleep', '60']));
    await stranger.request('process/start', startParams('s', ['/bin/sleep', '60']));
    const list = async (wire: typeof stranger, scope?: string) =>
      idsOf((await wire.request('process/list', { scope })).result).sort();
    expect(await list(mine)).toEqual(['m']);
    expect(await list(mine, 'all')).toEqual(['m', 'n']);
    expect(await list(stranger, 'all')).toEqual(['s']);
  });
});
