import { readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { SandboxContext } from '@exec-server/protocol';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { findProfile, toConfinement } from '../../../src/dialects/app/sandbox-policy.js';
import { openAppClient, runScript } from '../../support/app-client.js';
import { requireSandbox } from '../../support/sandbox.js';
import { openServer } from '../../support/session.js';

const permissionsOf = (policy: Parameters<typeof toConfinement>[0]) =>
  toConfinement(policy, '/work').sandbox?.permissions;

const special = (kind: string) => ({ path: { type: 'special', value: { kind } } });

describe('a policy', () => {
  it('that is absent confines nothing', () => {
    expect(toConfinement(undefined, '/work')).toEqual({});
  });

  it('of full access, or of somebody else, takes nothing away', () => {
    expect(permissionsOf({ type: 'dangerFullAccess' })).toEqual({ type: 'disabled' });
    for (const networkAccess of [undefined, 'restricted', 'enabled'] as const)
      expect(permissionsOf({ type: 'externalSandbox', ...(networkAccess && { networkAccess }) })).toEqual({
        type: 'disabled',
      });
  });

  it('for readers allows reading everything', () => {
    const entries = [{ ...special('root'), access: 'read' }];
    expect(permissionsOf({ type: 'readOnly', networkAccess: true })).toEqual({
      type: 'managed',
      file_system: { type: 'restricted', entries },
      network: 'enabled',
    });
  });

  it('for a workspace allows writing there, below its roots and among temporary files', () => {
    expect(permissionsOf({ type: 'workspaceWrite', writableRoots: ['/a b'] })).toEqual({
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [
          { ...special('root'), access: 'read' },
          { ...special('project_roots'), access: 'write' },
          { path: { type: 'path', path: 'file:///a%20b' }, access: 'write' },
          { ...special('tmpdir'), access: 'write' },
          { ...special('slash_tmp'), access: 'write' },
        ],
      },
      network: 'restricted',
    });
    const strict = { type: 'workspaceWrite', excludeTmpdirEnvVar: true, excludeSlashTmp: true } as const;
    expect(JSON.stringify(permissionsOf(strict))).not.toMatch(/tmp/);
  });

  it('is a context that the engine knows', () => {
    const { sandbox } = toConfinement({ type: 'workspaceWrite', writableRoots: ['/a'] }, '/work');
    expect(z.parse(SandboxContext, sandbox)).toMatchObject({
      cwd: 'file:///work',
      workspaceRoots: ['file:///work'],
    });
  });
});

it('a profile that is built in has a policy', () => {
  expect([':read-only', ':workspace', ':danger-full-access'].map((name) => findProfile(name).type)).toEqual([
    'readOnly',
    'workspaceWrite',
    'dangerFullAccess',
  ]);
});

it.each(['toString', ':toString'])('%s is no profile', (name) => {
  expect(() => findProfile(name)).toThrow(expect.objectContaining({ code: -32600 }));
});

describe('a command', () => {
  beforeEach(requireSandbox);

  it.each([{ type: 'dangerFullAccess' }, { type: 'externalSandbox' }])(
    'runs where nothing is to be kept from it: %j',
    async (sandboxPolicy) => {
      const wire = await openAppClient(openServer());
      expect((await runScript(wire, 'exit 0', { sandboxPolicy })).result).toMatchObject({ exitCode: 0 });
    },
  );

  async function makeDirectoryIn(parent: string): Promise<string> {
    const path = await mkdtemp(`${parent}/exec-server-test-`);
    onTestFinished(() => rm(path, { recursive: true, force: true }));
    return path;
  }

  /** Where a command can write: its directory, another one, the one that TMPDIR names, and /tmp. */
  async function findWritable(changes: object): Promise<string[]> {
    // One outside of /tmp, which has a rule of its own.
    const base = await makeDirectoryIn('/var/tmp');
    const shared = await makeDirectoryIn('/tmp');
    const places = {
      cwd: `${base}/cwd`,
      root: `${base}/root`,
      tmpdir: `${base}/tmpdir`,
      tmp: shared,
      other: base,
    };
    for (const place of [places.cwd, places.root, places.tmpdir]) await mkdir(place);
    const wire = await openAppClient(openServer({ env: { ...process.env, TMPDIR: places.tmpdir } }));
    const script = Object.entries(places).map(
      ([name, path]) => `if echo > ${path}/f; then echo ${name}; fi 2>/dev/null`,
    );
    const text = JSON.stringify(changes).replaceAll('$ROOT', places.root);
    const { result, error } = await runScript(wire, script.join('\n'), {
      cwd: places.cwd,
      ...JSON.parse(text),
    });
    expect(error).toBeUndefined();
    return String(result?.stdout).split('\n').slice(0, -1);
  }

  it.each<[object, string[]]>([
    [{}, ['cwd', 'root', 'tmpdir', 'tmp', 'other']],
    [{ sandboxPolicy: { type: 'readOnly' } }, []],
    [{ permissionProfile: ':read-only' }, []],
    [{ sandboxPolicy: { type: 'workspaceWrite' } }, ['cwd', 'tmpdir', 'tmp']],
    [{ permissionProfile: ':workspace' }, ['cwd', 'tmpdir', 'tmp']],
    [
      {
        sandboxPolicy: {
          type: 'workspaceWrite',
          writableRoots: ['$ROOT'],
          excludeTmpdirEnvVar: true,
          excludeSlashTmp: true,
        },
      },
      ['cwd', 'root'],
    ],
    [{ sandboxPolicy: { type: 'workspaceWrite', excludeSlashTmp: true } }, ['cwd', 'tmpdir']],
  ])('with %j writes in %j', async (changes, expected) => {
    expect(await findWritable(changes)).toEqual(expected);
  });

  it.each([false, true])('sees the network as its policy says: %j', async (networkAccess) => {
    const wire = await openAppClient(openServer());
    const sandboxPolicy = { type: 'readOnly', networkAccess };
    const { result } = await runScript(wire, 'readlink /proc/self/ns/net', { sandboxPolicy });
    const isOwn = String(result?.stdout).trim() !== readlinkSync('/proc/self/ns/net');
    expect(isOwn).toBe(!networkAccess);
  });
});
