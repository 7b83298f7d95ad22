import type { SandboxContext } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { findFileLimits, policyErrorToRpc } from '../../../../src/dialects/exec/confined/file-limits.js';
import { PolicyError } from '../../../../src/sandbox/policy/policy-error.js';
import { READ_ROOT, rule, sandboxOf, special } from '../../../support/sandbox.js';

const limitsOf = (sandbox: SandboxContext | null | undefined, serverEnv: Record<string, string> = {}) =>
  (['reads', 'changes'] as const).filter(
    (access) => findFileLimits(sandbox, access, { serverEnv }) !== undefined,
  );

it.each<[string, SandboxContext | null | undefined, string[]]>([
  ['no context', undefined, []],
  ['null', null, []],
  ['no restrictions', { ...sandboxOf([]), permissions: { type: 'disabled' } }, []],
  ["somebody else's", { ...sandboxOf([]), permissions: { type: 'external', network: 'restricted' } }, []],
  ['everything to write', sandboxOf([special({ kind: 'root' }, 'write')]), []],
  ['everything to read', sandboxOf([READ_ROOT]), ['changes']],
  ['everything to read but one', sandboxOf([READ_ROOT, rule('/x', 'deny')]), ['reads', 'changes']],
  [
    'everything to write but one',
    sandboxOf([special({ kind: 'root' }, 'write'), rule('/x', 'read')]),
    ['changes'],
  ],
  ['one directory', sandboxOf([rule('/x', 'write')]), ['reads', 'changes']],
])('%s: a helper is needed for %3$j', (_, sandbox, expected) => {
  expect(limitsOf(sandbox)).toEqual(expected);
});

it('the temporary directory is the one of the server', () => {
  const sandbox = sandboxOf([special({ kind: 'tmpdir' }, 'write')]);
  const pathsOf = (serverEnv: Record<string, string>) =>
    findFileLimits(sandbox, 'changes', { serverEnv })?.entries.map(({ path }) => path.toString());
  expect(pathsOf({ TMPDIR: '/scratch' })).toContain('/scratch');
  expect(pathsOf({})).toEqual([]);
});

it.each([
  ['foreign-path', -32600],
  ['needs-cwd', -32602],
  ['unenforceable', -32602],
] as const)('%s is %i', (failure, code) => {
  expect(policyErrorToRpc(new PolicyError(failure, 'why'))).toMatchObject({ code, message: 'why' });
});
