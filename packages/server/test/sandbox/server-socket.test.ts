import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { nativeToPathUri, type SandboxContext, type SandboxEntry } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { describeAttempts } from '../support/confined-attempts.js';
import { CLOSED_PROXY } from '../support/network-proxy.js';
import { READ_ROOT, rule, sandboxOf, special } from '../support/sandbox.js';

const WRITE_ROOT = special({ kind: 'root' }, 'write');

function permit(permissions: SandboxContext['permissions']): SandboxContext {
  return { permissions, windowsSandboxLevel: 'disabled' };
}

/** Contexts that restrict the network, with all that they may say of files. */
const RESTRICTED: Readonly<Record<string, (...more: SandboxEntry[]) => SandboxContext>> = {
  'files of somebody else': () => permit({ type: 'external', network: 'restricted' }),
  'all files': () =>
    permit({ type: 'managed', network: 'restricted', file_system: { type: 'unrestricted' } }),
  'every file by a rule': (...more) => sandboxOf([WRITE_ROOT, ...more]),
  'all files but one': (...more) => sandboxOf([WRITE_ROOT, rule('/etc/hostname', 'read'), ...more]),
  'what can be read': (...more) => sandboxOf([READ_ROOT, ...more]),
};

const args = (directory: string) => {
  for (const name of ['deep', 'deep/run', 'far']) {
    mkdirSync(`${directory}/${name}`);
    // The server may be another user.
    chmodSync(`${directory}/${name}`, 0o777);
  }
  symlinkSync('far', `${directory}/way`);
  const sockets = ['deep/run/socket', 'way/socket'].map((name) => `unix://${directory}/${name}`);
  return ['ws://127.0.0.1:0', ...sockets].flatMap((url) => ['--listen', url]);
};

describeAttempts({ args }, (attempts) => {
  const { perl, shell, ofServer, inWorkspace } = attempts;
  const SOCKET = 'deep/run/socket';

  /** Whether a program got through to the server, by a path from its directory. */
  const connect = async (path: string, sandbox: SandboxContext, changes?: object) => {
    const script = `use Socket; chdir("${ofServer()}"); socket(S, AF_UNIX, SOCK_STREAM, 0) or die $!; print connect(S, pack_sockaddr_un("${path}")) ? "in" : "out"`;
    return (await perl(script, sandbox, changes)).output;
  };

  it('is reached where the network is not restricted, so that what follows means something', async () => {
    const sandbox = sandboxOf([READ_ROOT, rule(ofServer(SOCKET), 'write')], { network: 'enabled' });
    expect(await connect(SOCKET, sandbox)).toBe('in');
  });

  it.each(Object.entries(RESTRICTED))('is hidden with %s', async (_name, allow) => {
    symlinkSync(ofServer('deep'), inWorkspace('link'));
    for (const path of [SOCKET, ofServer(SOCKET), inWorkspace('link/run/socket'), 'deep/run/../run/socket'])
      expect([path, await connect(path, allow())]).toEqual([path, 'out']);
    expect(await connect(`/proc/self/root${ofServer(SOCKET)}`, allow())).toBe('out');
  });

  it('is hidden where the network is a proxy', async () => {
    const sandbox = permit({ type: 'managed', network: 'enabled', file_system: { type: 'unrestricted' } });
    const changes = { enforceManagedNetwork: true, networkProxy: { proxy: CLOSED_PROXY } };
    expect(await connect(SOCKET, sandbox, changes)).toBe('out');
  });

  it.each(Object.entries(RESTRICTED))(
    'is not given another name for the next one, with %s',
    async (_name, allow) => {
      const sandbox = allow(rule(ofServer(), 'write'));
      const ways = [
        'mv deep/run/socket stolen',
        'ln deep/run/socket stolen',
        'mv deep/run stolen',
        'mv deep stolen',
        'mv "$PWD" "$PWD/../stolen"',
        'rm -rf deep/run/socket',
      ];
      for (const way of ways) {
        const { exitCode } = await shell(`cd '${ofServer()}' && ${way}`, sandbox);
        expect([way, exitCode === 0]).toEqual([way, false]);
      }
      for (const path of [
        'stolen',
        'stolen/socket',
        'stolen/run/socket',
        '../stolen/deep/run/socket',
        SOCKET,
      ])
        expect([path, await connect(path, sandbox)]).toEqual([path, 'out']);
    },
  );

  it.each(Object.entries(RESTRICTED))(
    'is not given another name by file operations, with %s',
    async (_name, allow) => {
      const sandbox = allow(rule(ofServer(), 'write'));
      const toUri = (name: string) => nativeToPathUri(ofServer(name));
      const move = (source: string, destination: string) =>
        attempts.wire.request('fs/rename', {
          sourcePath: toUri(source),
          destinationPath: toUri(destination),
          sandbox,
        });
      for (const source of [SOCKET, 'deep/run', 'deep', '', 'far/socket', 'far']) {
        const { error } = await move(source, source === '' ? '../stolen' : 'stolen');
        expect([source, error?.code]).toEqual([source, expect.any(Number)]);
      }
      // Whatever takes its place takes it away.
      expect(
        (await attempts.call('fs/writeFile', ofServer('other'), sandbox, { dataBase64: '' })).error?.code,
      ).toBe(undefined);
      expect((await move('other', SOCKET)).error?.code).toEqual(expect.any(Number));
      for (const name of [SOCKET, 'deep', 'far']) {
        const { error } = await attempts.call('fs/remove', ofServer(name), sandbox, { recursive: true });
        expect([name, error?.code]).toEqual([name, expect.any(Number)]);
      }
      await attempts.call('fs/remove', ofServer('other'), sandbox);
      for (const path of ['stolen', 'stolen/socket', 'stolen/run/socket', SOCKET, 'far/socket'])
        expect([path, await connect(path, sandbox)]).toEqual([path, 'out']);
      const open = sandboxOf([READ_ROOT, rule(ofServer(SOCKET), 'write')], { network: 'enabled' });
      expect(await connect(SOCKET, open)).toBe('in');
    },
  );

  it('stays hidden when a link on the way to it leads elsewhere', async () => {
    const sandbox = attempts.usual(rule(ofServer(), 'write'));
    expect(await connect('way/socket', sandbox)).toBe('out');
    expect((await shell(`cd '${ofServer()}' && rm way && ln -s deep way`, sandbox)).exitCode).toBe(0);
    for (const path of ['way/socket', 'far/socket'])
      expect([path, await connect(path, sandbox)]).toEqual([path, 'out']);
    expect((await shell(`cd '${ofServer()}' && mv far stolen`, sandbox)).exitCode).not.toBe(0);
    expect((await shell(`cd '${ofServer()}' && rm way && ln -s far way`, sandbox)).exitCode).toBe(0);
  });

  it('leaves alone what is beside it', async () => {
    const all = RESTRICTED['all files']!();
    const script = 'touch deep/run/other && mv deep/run/other deep/moved && rm deep/moved && echo fine';
    expect((await shell(`cd '${ofServer()}' && ${script}`, all)).output).toBe('fine\n');
  });
});
