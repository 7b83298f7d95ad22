import type { SandboxContext } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { findFileLimits, policyErrorToRpc } from '../../../../src/dialects/exec/confined/file-limits.js';
import type { ResolvedPolicy } from '../../../../src/sandbox/policy/policy.js';
import { PolicyError } from '../../../../src/sandbox/policy/policy-error.js';
import { READ_ROOT, rule, sandboxOf, special } from '../../../support/sandbox.js';

const pathsIn = (files: ResolvedPolicy['files'] | undefined) =>
  files === undefined || files === 'unrestricted'
    ? files
    : files.rules.rules.map(({ path }) => path.toString());

const limitsOf = (sandbox: SandboxContext | null | undefined, serverEnv: Record<string, string> = {}) =>
  (['reads', 'changes'] as const).filter(
    (access) => findFileLimits(sandbox, access, { serverEnv }) !== undefined,
  );

it.each<[string, SandboxContext | null | undefined, string[]]>([
  ['no context', undefined, []],
  ['null', null, []],
  ['no restrictions', { ...sandboxOf([]), permissions: { type: 'disabled' } }, []],
  ["somebody else's", { ...sandboxOf([]), permissions: { type: 'external', network: 'enabled' } }, []],
  [
    "somebody else's, without network",
    { ...sandboxOf([]), permissions: { type: 'external', network: 'restricted' } },
    ['reads', 'changes'],
  ],
  ['everything to write', sandboxOf([special({ kind: 'root' }, 'write')], { network: 'enabled' }), []],
  [
    'everything to write, without network',
    sandboxOf([special({ kind: 'root' }, 'write')]),
    ['reads', 'changes'],
  ],
  ['everything to read', sandboxOf([READ_ROOT]), ['reads', 'changes']],
  ['everything to read but one', sandboxOf([READ_ROOT, rule('/x', 'deny')]), ['reads', 'changes']],
  [
    'everything to write but one',
    sandboxOf([special({ kind: 'root' }, 'write'), rule('/x', 'read')]),
    ['reads', 'changes'],
  ],
  ['one directory', sandboxOf([rule('/x', 'write')]), ['reads', 'changes']],
])('%s: a helper is needed for %3$j', (_, sandbox, expected) => {
  expect(limitsOf(sandbox)).toEqual(expected);
});

it('policies that differ in nothing that counts share a helper', async () => {
  const limits = (access: 'reads' | 'changes', ...entries: Parameters<typeof sandboxOf>[0]) =>
    findFileLimits(sandboxOf(entries), access, { serverEnv: {} });
  const [one, other] = [rule('/one', 'write'), rule('/other', 'write')];
  expect(await limits('reads', READ_ROOT, one)).toBe(await limits('reads', READ_ROOT, other));
  expect(limits('changes', READ_ROOT, one)).not.toEqual(limits('changes', READ_ROOT, other));
  const everything = special({ kind: 'root' }, 'write');
  for (const access of ['reads', 'changes'] as const) expect(limits(access, everything)).toBe('unrestricted');
});

it('the temporary directory is the one of the server', async () => {
  const sandbox = sandboxOf([special({ kind: 'tmpdir' }, 'write')]);
  const pathsOf = async (serverEnv: Record<string, string>) =>
    pathsIn(await findFileLimits(sandbox, 'changes', { serverEnv }));
  expect(await pathsOf({ TMPDIR: '/scratch' })).toContain('/scratch');
  expect(await pathsOf({})).toEqual([]);
});

it.each([
  ['foreign-path', -32600],
  ['needs-cwd', -32602],
  ['unenforceable', -32602],
] as const)('%s is %i', (failure, code) => {
  expect(policyErrorToRpc(new PolicyError(failure, 'why'))).toMatchObject({ code, message: 'why' });
});
