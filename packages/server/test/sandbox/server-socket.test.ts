import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import type { SandboxContext, SandboxEntry } from '@exec-server/protocol';
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
  for (const name of ['deep', 'deep/run']) {
    mkdirSync(`${directory}/${name}`);
    // The server may be another user.
    chmodSync(`${directory}/${name}`, 0o777);
  }
  return ['--listen', 'ws://127.0.0.1:0', '--listen', `unix://${directory}/deep/run/socket`];
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

  it('leaves alone what is beside it', async () => {
    const all = RESTRICTED['all files']!();
    const script = 'touch deep/run/other && mv deep/run/other deep/moved && rm deep/moved && echo fine';
    expect((await shell(`cd '${ofServer()}' && ${script}`, all)).output).toBe('fine\n');
    // Who may write every file has every device.
    expect((await shell('test -c /dev/ptmx && head -c 1 /dev/zero | wc -c', all)).output.trim()).toBe('1');
  });
});
