import { createMemoryTransportPair } from '@exec-server/rpc';
import { isRunning } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { createExecServer } from '../src/exec-server.js';
import { openServer, openSession, shellParams, startParams, untilPrinted } from './support/session.js';

describe('close', () => {
  it('ends connections and processes, and resolves when they are gone', async () => {
    const server = createExecServer();
    const wire = await openSession(server);
    await wire.request('process/start', shellParams('p', 'trap "" TERM; echo $$; exec sleep 60'));
    const { params } = await wire.next(({ method }) => method === 'process/output', 'the pid');
    const pid = Number(atob(params?.chunk as string));
    await server.close();
    expect(isRunning(pid)).toBe(false);
    // Going away is a clean end.
    expect(await wire.closed).toBeUndefined();
  });

  it('may be called twice, and refuses later connections', async () => {
    const server = createExecServer();
    await Promise.all([server.close(), server.close()]);
    const [client, accepted] = createMemoryTransportPair();
    server.accept(accepted);
    const reason = await new Promise((resolve) => {
      client.open({ onMessage() {}, onMalformed() {}, onDrain() {}, onClose: resolve });
    });
    expect(reason).toBe('the server is closing');
  });
});

it('several servers in one program do not know each other', async () => {
  const [a, b] = [await openSession(openServer()), await openSession(openServer())];
  await a.request('process/start', shellParams('p', 'echo a; exec sleep 60'));
  await untilPrinted(a, 'p', 'a');
  expect((await b.request('process/read', { processId: 'p' })).error?.message).toBe('unknown process id p');
});

it('an environment that is given is what children inherit', async () => {
  const wire = await openSession(openServer({ env: { ONLY: 'this' } }));
  const envPolicy = { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };
  await wire.request('process/start', startParams('p', ['/usr/bin/env'], { env: {}, envPolicy }));
  await untilPrinted(wire, 'p', 'ONLY=this\n');
});
