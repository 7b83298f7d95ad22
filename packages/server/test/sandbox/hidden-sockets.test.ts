import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { requireProgram } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { openListener } from '../../src/listen/open-listener.js';
import { listenAtSocketFile } from '../../src/listen/socket-file.js';
import { listHiddenPaths, listSessionPaths } from '../../src/sandbox/hidden-sockets.js';
import { READ_ROOT, requireBackend, rule, sandboxOf, VIEW_BACKENDS } from '../support/sandbox.js';
import { openServer, openSession, startParams, untilClosed } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

it.for(VIEW_BACKENDS)(
  'by %s: keeps confined programs from asking this server for unconfined ones',
  async (backend, test) => {
    await requireBackend(test, backend);
    requireProgram('perl', test);
    const directory = await makeTempDirectory();
    const path = join(directory, 'socket');
    const listener = await openListener(`unix://${path}`, {}, (transport) => transport.close());
    try {
      const wire = await openSession(openServer({ sandboxBackend: backend }));
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
  },
);

it('knows where services of a user listen, by names and by variables', () => {
  const env = {
    SSH_AUTH_SOCK: '/tmp/ssh-x/agent.1',
    TMUX: '/somewhere/tmux-7/default,1234,0',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/tmp/bus,guid=1;unix:abstract=/x',
    DOCKER_HOST: 'tcp://127.0.0.1:2375',
    CONTAINER_HOST: 'unix://relative',
    TMUX_TMPDIR: '/somewhere',
  };
  const found = listSessionPaths(7, env);
  expect(found.filter(({ kind }) => kind === 'directory').map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/somewhere/tmux-7', '/tmp/emacs7', '/tmp/.X11-unix']),
  );
  const sockets = found.filter(({ kind }) => kind === 'socket').map(({ path }) => path);
  expect(sockets.filter((path) => !path.includes('gnupg'))).toEqual([
    '/tmp/ssh-x/agent.1',
    '/somewhere/tmux-7/default',
    '/tmp/bus',
  ]);
  expect(found.every(({ path }) => path.startsWith('/'))).toBe(true);
});

it('leaves them to programs that have the network', () => {
  const list = (network: 'enabled' | 'restricted') => listHiddenPaths(network).map(({ path }) => path);
  expect(list('restricted')).toContain('/tmp/.X11-unix');
  expect(list('enabled')).not.toContain('/tmp/.X11-unix');
  for (const network of ['enabled', 'restricted'] as const)
    expect(list(network)).toEqual(
      expect.arrayContaining(['/run/docker.sock', `/run/user/${process.getuid?.()}`]),
    );
});

it('hides both names of a socket while it is bound', async () => {
  const directory = await makeTempDirectory();
  const path = join(directory, 'socket');
  const listed = () => listHiddenPaths('restricted').filter((hidden) => hidden.path.startsWith(directory));
  const server = createServer();
  const binding = listenAtSocketFile(server, path);
  await once(server, 'listening');
  const bound = server.address() as string;
  expect(listed()).toEqual([
    { path: dirname(bound), kind: 'directory' },
    { path, kind: 'socket' },
  ]);
  const file = await binding;
  expect(listed()).toEqual([{ path, kind: 'socket' }]);
  await file.remove();
  server.close();
  expect(listed()).toEqual([]);
  // One that cannot be bound hides nothing.
  await expect(listenAtSocketFile(createServer(), join(directory, 'x'.repeat(108)))).rejects.toThrow(
    'the path has',
  );
  expect(listed()).toEqual([]);
});
