import { spawnSync } from 'node:child_process';
import { openWire, startServer } from '@exec-server/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { BACKEND_CHOICES, type BackendChoice } from '../../src/sandbox/backend.js';
import { SandboxBackends } from '../../src/sandbox/backends.js';
import type { ResolvedPolicy } from '../../src/sandbox/policy/policy.js';
import { READ_ROOT, requireBackend, rule, sandboxOf, VIEW_BACKENDS } from '../support/sandbox.js';
import { SERVER_USERS } from '../support/server-users.js';
import { openServer, openSession, startParams } from '../support/session.js';

const READ_ONLY = sandboxOf([READ_ROOT]);
const WRITABLE = sandboxOf([READ_ROOT, rule('/tmp', 'write')]);
const DENYING = sandboxOf([READ_ROOT, rule('/etc/shadow', 'deny')]);
const NO_NETWORK: ResolvedPolicy = { files: 'unrestricted', network: 'restricted' };

/** A shell that leaves whoever it becomes without namespaces of users. */
const WITHOUT_NAMESPACES = [
  'unshare',
  '--user',
  '--map-root-user',
  'sh',
  '-c',
  'echo 0 > /proc/sys/user/max_user_namespaces || exit 99; exec "$@"',
  'sh',
];

/** What a server that was started in some way answers to a start under a sandbox, and says of itself. */
async function ask(command: readonly string[], sandbox: object) {
  const server = await startServer({ command });
  onTestFinished(() => server.stop().then(() => {}));
  const wire = await openWire(server.url);
  const { result } = await wire.request('initialize', { clientName: 'test' });
  wire.send({ method: 'initialized' });
  const params = startParams('p', ['/bin/sh', '-c', 'echo x > /tmp/exec-server-backends'], { sandbox });
  const { error } = await wire.request('process/start', params);
  const { capabilities } = (result as { environmentInfo: { capabilities: Record<string, boolean> } })
    .environmentInfo;
  return { error, capabilities };
}

describe('a choice', () => {
  it.for(VIEW_BACKENDS)('of %s is kept', async (name, test) => {
    await requireBackend(test, name);
    const backends = new SandboxBackends(name);
    await backends.ready;
    expect((await backends.choose(NO_NETWORK)).name).toBe(name);
    expect(backends.surelyKeeps(NO_NETWORK)).toBe(true);
  });

  it('of none refuses whatever would have to be confined, and promises nothing', async () => {
    const wire = await openSession(openServer({ sandboxBackend: 'none' }));
    const params = startParams('p', ['/bin/true'], { sandbox: READ_ONLY });
    expect((await wire.request('process/start', params)).error).toMatchObject({
      code: -32602,
      message:
        'sandbox intent cannot be enforced on this executor: this server confines nothing, because it was started ' +
        'with --sandbox-backend none',
    });
    const { result } = await wire.request('environment/info');
    expect(result).toMatchObject({ capabilities: { linuxRootWritePreservesDevices: false } });
    const read = await wire.request('fs/readFile', { path: 'file:///etc/passwd', sandbox: DENYING });
    expect(read.error?.message).toContain('--sandbox-backend none');
    expect((await wire.request('process/start', { ...params, sandbox: null })).result).toBeDefined();
  });

  it('is one of those that there are', () => {
    expect(BACKEND_CHOICES).toEqual(['auto', 'helper', 'bubblewrap', 'landlock', 'none']);
    expect(() => openServer({ sandboxBackend: 'firejail' as BackendChoice })).toThrow(/sandboxBackend/);
  });
});

it('takes the first that works and can keep the policy', async () => {
  const backends = new SandboxBackends('auto');
  await backends.ready;
  expect(backends.makesViews).toBe(true);
  expect((await backends.choose(NO_NETWORK)).name).toBe('helper');
});

describe('without namespaces of users', () => {
  beforeEach(async (test) => {
    await requireBackend(test, 'landlock');
    if (spawnSync(WITHOUT_NAMESPACES[0]!, [...WITHOUT_NAMESPACES.slice(1), 'true']).status !== 0)
      test.skip('needs namespaces of users to forbid them in');
  });

  const command = [...WITHOUT_NAMESPACES, ...SERVER_USERS['this user']];

  it('Landlock keeps what it can', async () => {
    const { error, capabilities } = await ask(command, READ_ONLY);
    expect(error).toBeUndefined();
    expect(capabilities).toMatchObject({
      linuxRootWritePreservesDevices: false,
      linuxApprovedRootWritePreservesRestrictions: false,
    });
  });

  it('the rest is refused, with what is in the way of each', async () => {
    const { error } = await ask(command, WRITABLE);
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message).toMatch(/helper: namespaces: No space left on device.*; allow unprivileged user/);
    expect(error?.message).toMatch(/bubblewrap: /);
    expect(error?.message).toMatch(/landlock: it lets a program write nothing$/);
  });

  it('doctor says which step fails and what to do', () => {
    const [program, ...args] = [...command, 'doctor', '--json'];
    const { stdout } = spawnSync(program!, args, { encoding: 'utf8' });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; finding: string }[] };
    const find = (name: string) => checks.find((check) => check.name === name);
    expect(find('sandbox')).toMatchObject({
      status: 'ok',
      finding: 'landlock, confines what programs write',
    });
    expect(find('sandbox helper')).toMatchObject({
      status: 'limited',
      finding: 'does not work: namespaces: No space left on device (os error 28)',
      advice: expect.stringContaining('allow unprivileged user namespaces'),
    });
    expect(find('sandbox bubblewrap')).toMatchObject({ status: 'limited' });
    expect(find('sandbox landlock')).toMatchObject({ status: 'ok' });
  });
});
