import { join } from 'node:path';
import { requireProgram } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { openListener } from '../../src/listen/open-listener.js';
import { READ_ROOT, requireSandbox, rule, sandboxOf } from '../support/sandbox.js';
import { openServer, openSession, startParams, untilClosed } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

it('keeps confined programs from asking this server for unconfined ones', async (test) => {
  requireSandbox(test);
  requireProgram('perl', test);
  const directory = await makeTempDirectory();
  const path = join(directory, 'socket');
  const listener = await openListener(`unix://${path}`, {}, (transport) => transport.close());
  try {
    const wire = await openSession(openServer());
    const script = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); print connect(S, pack_sockaddr_un("${path}")) ? "in" : "out"`;
    const tryToConnect = async (processId: string, sandbox: object | null) => {
      await wire.request('process/start', startParams(processId, ['perl', '-e', script], { sandbox }));
      return (await untilClosed(wire, processId)).stdout.toString();
    };
    expect(await tryToConnect('confined', sandboxOf([READ_ROOT]))).toBe('out');
    expect(await tryToConnect('writing', sandboxOf([READ_ROOT, rule(directory, 'write')]))).toBe('out');
    // Whoever writes the policy may know better.
    expect(await tryToConnect('named', sandboxOf([READ_ROOT, rule(path, 'write')]))).toBe('in');
    expect(await tryToConnect('open', null)).toBe('in');
  } finally {
    await listener.close();
  }
});
