import { SandboxContext } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { findProfile, toConfinement } from '../../../src/dialects/app/sandbox-policy.js';
import { openAppClient, runScript } from '../../support/app-client.js';
import { openServer } from '../../support/session.js';

const permissionsOf = (policy: Parameters<typeof toConfinement>[0]) =>
  toConfinement(policy, '/work').sandbox?.permissions;

const special = (kind: string) => ({ path: { type: 'special', value: { kind } } });

describe('a policy', () => {
  it('that is absent confines nothing', () => {
    expect(toConfinement(undefined, '/work')).toEqual({});
  });

  it('of full access or of somebody else is told as it is', () => {
    expect(permissionsOf({ type: 'dangerFullAccess' })).toEqual({ type: 'disabled' });
    expect(permissionsOf({ type: 'externalSandbox' })).toEqual({ type: 'external', network: 'restricted' });
    expect(permissionsOf({ type: 'externalSandbox', networkAccess: 'enabled' })).toEqual({
      type: 'external',
      network: 'enabled',
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
  it.each([{ type: 'dangerFullAccess' }, { type: 'externalSandbox' }])(
    'runs where nothing is to be kept from it: %j',
    async (sandboxPolicy) => {
      const wire = await openAppClient(openServer());
      expect((await runScript(wire, 'exit 0', { sandboxPolicy })).result).toMatchObject({ exitCode: 0 });
    },
  );

  it.each([
    [{ sandboxPolicy: { type: 'readOnly' } }, 'restricted network'],
    [{ sandboxPolicy: { type: 'readOnly', networkAccess: true } }, 'restricted file system'],
    [{ sandboxPolicy: { type: 'workspaceWrite' } }, 'restricted network'],
    [{ permissionProfile: ':read-only' }, 'restricted network'],
  ])('that is to be confined is refused, and not run open: %j', async (changes, restriction) => {
    const wire = await openAppClient(openServer());
    expect((await runScript(wire, 'exit 0', changes)).error).toEqual({
      code: -32603,
      message: `exec failed: sandbox intent cannot be enforced on this executor: ${restriction}`,
    });
  });
});
