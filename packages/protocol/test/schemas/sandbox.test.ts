import { describe, expect, it } from 'vitest';
import { DiscoverySandboxContext, decodeParams, SandboxContext } from '../../src/index.js';
import { problemOf } from './problem-of.js';

const disabled = { type: 'disabled' };
const context = { permissions: disabled, windowsSandboxLevel: 'disabled' };
const restricted = (...entries: unknown[]) => ({
  ...context,
  permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network: 'restricted' },
});
const special = (value: unknown) => ({ path: { type: 'special', value }, access: 'read' });

describe('profiles', () => {
  it.each([
    context,
    { ...context, permissions: { type: 'external', network: 'enabled' } },
    {
      ...context,
      permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network: 'enabled' },
    },
    restricted(),
    restricted(special({ kind: 'root' }), special({ kind: 'project_roots', subpath: 'a/b' })),
    restricted({
      path: { type: 'path', path: 'file:///tmp' },
      access: 'none',
      missing_path_behavior: 'skip',
    }),
    restricted({ path: { type: 'glob_pattern', pattern: '*.x' }, access: 'deny' }),
    restricted(special({ kind: 'unknown', path: ':x' })),
    {
      ...context,
      cwd: 'file://h/x',
      workspaceRoots: [],
      useLegacyLandlock: false,
      sandboxOverride: 'noOverride',
    },
  ])('%j', (value) => {
    expect(decodeParams(SandboxContext, value)).toEqual(value);
  });

  it('takes null for absent where the reference does', () => {
    const nulls = { cwd: null, policyContext: null, userHomeDir: null, temporaryDirectories: null };
    expect(
      decodeParams(SandboxContext, { ...context, ...nulls, windowsSandboxProxySettingsMode: null }),
    ).toEqual(context);
    const entry = special({ kind: 'project_roots', subpath: null });
    expect(decodeParams(SandboxContext, restricted({ ...entry, missing_path_behavior: null }))).toEqual(
      restricted(special({ kind: 'project_roots' })),
    );
  });

  it('takes entries in their usual form together with all others', () => {
    const plain = { path: { type: 'path', path: 'file:///a/b' }, access: 'write' };
    const forms = [
      plain,
      { ...plain, unknown: 1 },
      { ...plain, path: { ...plain.path, unknown: 1 } },
      { ...plain, missing_path_behavior: null },
      [['path', 'file:///a/b'], 'write'],
    ];
    expect(decodeParams(SandboxContext, restricted(...forms))).toEqual(restricted(...forms.map(() => plain)));
  });

  it.each([
    [{ path: { type: 'path', path: 'file:///a' }, access: 'x' }, 'unknown variant `x`, expected one of '],
    [{ path: { type: 'path', path: 'a' }, access: 'read' }, 'invalid URI: relative URL without a base'],
    [{ path: { type: 'path', path: 1 }, access: 'read' }, 'invalid type: number, expected a string'],
    [{ path: { type: 'path', path: 'file:///a' } }, 'missing field `access`'],
    [null, 'invalid type: null, expected struct ExecFileSystemSandboxEntry'],
  ])('says of %j among usual entries what is wrong with it', (entry, problem) => {
    const plain = { path: { type: 'path', path: 'file:///a/b' }, access: 'write' };
    expect(problemOf(SandboxContext, restricted(plain, entry, plain))).toContain(problem);
  });

  it('takes the positional form', () => {
    expect(
      decodeParams(SandboxContext, [['disabled'], 'noOverride', null, null, [], null, null, 'disabled']),
    ).toEqual({
      ...context,
      sandboxOverride: 'noOverride',
      workspaceRoots: [],
    });
  });

  it.each([
    [{}, 'missing field `permissions`'],
    [{ permissions: disabled }, 'missing field `windowsSandboxLevel`'],
    [{ ...context, permissions: {} }, 'missing field `type`'],
    [
      { ...context, permissions: { type: 'x' } },
      'unknown variant `x`, expected one of `managed`, `disabled`, `external`',
    ],
    [{ ...context, permissions: { type: 'external' } }, 'missing field `network`'],
    [{ ...context, workspaceRoots: null }, 'invalid type: null, expected a sequence'],
    [{ ...context, useLegacyLandlock: null }, 'invalid type: null, expected a boolean'],
    [{ ...context, sandboxOverride: null }, 'invalid type: null, expected string or map'],
    [{ ...context, temporaryDirectories: ['x'] }, 'invalid URI: relative URL without a base'],
    [{ ...context, policyContext: 5 }, 'invalid type: number, expected struct WireFileSystemPolicyContext'],
    [
      { ...context, windowsSandboxLevel: 'x' },
      'unknown variant `x`, expected one of `disabled`, `restricted-token`, `elevated`, `mxc`',
    ],
    [restricted({}), 'missing field `path`'],
    [restricted({ path: { type: 'path', path: '/x' } }), 'invalid URI: relative URL without a base'],
    [restricted(special({ kind: 'unknown' })), 'missing field `path`'],
    [
      restricted({ ...special({ kind: 'root' }), access: 'x' }),
      'unknown variant `x`, expected one of `read`, `write`, `deny`, `none`',
    ],
    [[disabled], 'invalid length 7, expected struct WireFileSystemSandboxContext with 10 elements'],
  ])('%j', (value, problem) => {
    expect(problemOf(SandboxContext, value)).toBe(problem);
  });
});

it('requires the directory for discovery', () => {
  expect(problemOf(DiscoverySandboxContext, context)).toBe('missing field `cwd`');
  expect(
    problemOf(DiscoverySandboxContext, { ...context, cwd: 'file:///tmp', policyContext: 5 }),
  ).toBeUndefined();
  expect(problemOf(DiscoverySandboxContext, [])).toBe(
    'invalid length 0, expected struct FileSystemSandboxContext with 9 elements',
  );
});
