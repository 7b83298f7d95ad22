import { createMemoryTransportPair } from '@exec-server/rpc';
import type { ExecServer } from '@exec-server/server';
import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { makeFileTree } from '../../support/file-tree.js';
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
    ['has a size and no terminal', startParams('p', ['/bin/true'], { size: { rows: 1, cols: 1 } })],
    ['has a directory that is none', startParams('p', ['/bin/true'], { cwd: 'file://elsewhere/tmp' })],
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
    const { id, error } = await wire.request('process/start', params);
    expect(failures(wire).map((message) => message.params)).toEqual([
      { processId: 'p', processIdFree: true, requestId: id, message: error?.message },
    ]);
    expect(error).toBeDefined();
  });

  it('tell of a prepared start that fails', async () => {
    const wire = await open(openServer());
    const prepared = startParams('p', ['x'], { program: '/nonexistent', env: {} });
    const { id, error } = await wire.request('process/startPrepared', prepared);
    expect(failures(wire).map((message) => message.params)).toEqual([
      { processId: 'p', processIdFree: true, requestId: id, message: error?.message },
    ]);
  });

  it('tell of a start whose id exists, and that the id is not free', async () => {
    const wire = await open(openServer());
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60']));
    const { id, error } = await wire.request('process/start', startParams('p', ['/bin/true']));
    expect(error?.code).toBe(-32600);
    expect(failures(wire).map(({ params }) => params)).toEqual([
      { processId: 'p', processIdFree: false, requestId: id, message: error?.message },
    ]);
    expect((await wire.request('process/signal', { processId: 'p', signal: 'SIGKILL' })).result).toEqual({});
    await untilClosed(wire, 'p');
  });

  it('say that an id is not free when something else is wrong with the start, too', async () => {
    const wire = await open(openServer());
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60']));
    await wire.request('process/start', startParams('p', []));
    expect(failures(wire)[0]?.params).toMatchObject({ processIdFree: false });
  });

  it.each(['"a name"', '9223372036854775807', '-1'])(
    'carry the id %s of the request as it is',
    async (id) => {
      const [client, accepted] = createMemoryTransportPair('server', 'client');
      openServer().accept(accepted);
      const params = JSON.stringify(startParams('p', ['/nonexistent']));
      const failure = await new Promise<string>((resolve) => {
        client.open({
          onMessage: (text) => void (text.includes('process/failed') && resolve(text)),
          onMalformed: resolve,
          onDrain() {},
          onClose: (reason) => resolve(`closed: ${reason}`),
        });
        client.send('{"id":0,"method":"initialize","params":{"clientName":"test","lifecycleEvents":true}}');
        client.send('{"method":"initialized"}');
        client.send(`{"id":${id},"method":"process/start","params":${params}}`);
      });
      client.close();
      expect(failure).toContain(`"requestId":${id},`);
    },
  );

  it('leave out the id of a request that another connection sent', async () => {
    const server = openServer();
    const first = await open(server);
    const home = await makeFileTree({ '.bash_profile': 'exec sleep 60\n' });
    const start = startParams('p', ['/bin/bash', '-lc', 'true'], {
      env: { PATH: '/usr/bin:/bin', HOME: home },
      shellSnapshot: { scopeId: 'scope', shell: { name: 'bash', path: '/bin/bash' } },
    });
    first.send({ id: 'start', method: 'process/start', params: start });
    // The answer comes after the start has begun, and the login that it waits for never ends.
    await first.request('environment/status');
    await first.close();
    const second = await open(server, { resumeSessionId: first.sessionId, lifecycleEvents: true });
    expect((await second.request('process/terminate', { processId: 'p' })).result).toMatchObject({
      running: true,
    });
    const { params } = await second.next(({ method }) => method === 'process/failed', 'the failure');
    expect(params).toEqual({
      processId: 'p',
      processIdFree: true,
      message: 'process p start was cancelled',
    });
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
    expect((await wire.request('process/start', shellParams('p', 'true'))).error?.code).toBe(-32600);
    expect(told(wire)).toEqual(['process/exited', 'process/closed']);
  });
});
