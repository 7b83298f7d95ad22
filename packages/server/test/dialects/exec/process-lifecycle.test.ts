import type { ExecServer } from '@exec-server/server';
import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openServer, shellParams, startParams, untilClosed } from '../../support/session.js';

async function open(server: ExecServer, params: object = { lifecycleEvents: true }) {
  const wire = openInProcessWire(server);
  const { result } = await wire.request('initialize', { clientName: 'test', ...params });
  wire.send({ method: 'initialized' });
  return Object.assign(wire, { sessionId: result?.sessionId as string });
}

type Wire = Awaited<ReturnType<typeof open>>;

const told = (wire: Wire) =>
  wire.received.filter(({ method }) => method?.startsWith('process/')).map(({ method }) => method);
const failures = (wire: Wire) => wire.received.filter(({ method }) => method === 'process/failed');

describe('lifecycle events', () => {
  it('tell a start before anything else of the process, and take no number', async () => {
    const wire = await open(openServer());
    const { result } = await wire.request('process/start', shellParams('p', 'true'));
    const { params } = await wire.next(({ method }) => method === 'process/started', 'the start');
    expect(params).toEqual({ processId: 'p', pid: result?.pid });
    await untilClosed(wire, 'p');
    expect(told(wire)).toEqual(['process/started', 'process/exited', 'process/closed']);
    const exited = wire.received.find(({ method }) => method === 'process/exited');
    expect(exited?.params?.seq).toBe(1);
  });

  it.each([
    ['cannot be spawned', startParams('p', ['/nonexistent'])],
    ['has no program', startParams('p', [])],
    [
      'cannot be confined',
      startParams('p', ['/bin/true'], {
        // Nobody said where the network that it is to be kept to is.
        enforceManagedNetwork: true,
        sandbox: {
          permissions: {
            type: 'managed',
            file_system: { type: 'unrestricted' },
            network: 'restricted',
          },
          windowsSandboxLevel: 'disabled',
        },
      }),
    ],
  ])('tell of a start that %s, beside the error', async (_name, params) => {
    const wire = await open(openServer());
    const { error } = await wire.request('process/start', params);
    expect(failures(wire).map((message) => message.params)).toEqual([
      { processId: 'p', message: error?.message },
    ]);
  });

  it('do not call a process failed whose id somebody else asked for', async () => {
    const wire = await open(openServer());
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60']));
    expect((await wire.request('process/start', startParams('p', ['/bin/true']))).error?.code).toBe(-32600);
    expect(failures(wire)).toEqual([]);
  });

  it('go to the connection that has the session, if that asked', async () => {
    const server = openServer();
    const first = await open(server, {});
    await first.close();
    const second = await open(server, { resumeSessionId: first.sessionId, lifecycleEvents: true });
    await second.request('process/start', shellParams('p', 'true'));
    await untilClosed(second, 'p');
    expect(told(second)[0]).toBe('process/started');
  });

  it.each([{}, { lifecycleEvents: false }])('are not sent to a client that says %j', async (params) => {
    const wire = await open(openServer(), params);
    await wire.request('process/start', startParams('q', ['/nonexistent']));
    await wire.request('process/start', shellParams('p', 'true'));
    await untilClosed(wire, 'p');
    expect(told(wire)).toEqual(['process/exited', 'process/closed']);
  });
});
