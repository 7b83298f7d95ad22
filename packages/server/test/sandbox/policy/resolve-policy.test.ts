import type { SandboxContext, SandboxEntry } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { allowsAllFiles, allowsAllReads, isOpen, sandboxKey } from '../../../src/sandbox/policy/policy.js';
import { PolicyError } from '../../../src/sandbox/policy/policy-error.js';
import { type PolicyHost, resolvePolicy } from '../../../src/sandbox/policy/resolve-policy.js';
import { pattern, READ_ROOT, rule, sandboxOf, special } from '../../support/sandbox.js';

const HOST: PolicyHost = { temporaryDirectories: [] };
const AT_WORK = { cwd: 'file:///work', workspaceRoots: ['file:///work'] };

function resolveFiles(context: SandboxContext, host = HOST) {
  const { files } = resolvePolicy(context, host);
  if (files === 'unrestricted') throw new Error('the policy does not restrict files');
  return files;
}

/** The rules as `access path`, without those for names that are always protected. */
function list(entries: readonly SandboxEntry[], changes: object = {}, host = HOST): string[] {
  return resolveFiles(sandboxOf(entries, changes), host)
    .entries.map(({ path, access }) => `${access} ${path.toString()}`)
    .filter((line) => !/\/\.(?:git|agents|codex|aws)$/.test(line));
}

function failureOf(act: () => unknown): PolicyError {
  try {
    act();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const permissionsOf = (permissions: SandboxContext['permissions']): SandboxContext => ({
  permissions,
  windowsSandboxLevel: 'disabled',
});

it('takes nothing away where nobody restricts anything', () => {
  expect(isOpen(resolvePolicy(permissionsOf({ type: 'disabled' }), HOST))).toBe(true);
  const unrestricted = { type: 'unrestricted' } as const;
  expect(
    isOpen(
      resolvePolicy(permissionsOf({ type: 'managed', file_system: unrestricted, network: 'enabled' }), HOST),
    ),
  ).toBe(true);
});

it('restricts the network also where files are somebody else’s business', () => {
  const policy = resolvePolicy(permissionsOf({ type: 'external', network: 'restricted' }), HOST);
  expect(policy).toEqual({ files: 'unrestricted', network: 'restricted' });
  expect(isOpen(policy)).toBe(false);
});

it('knows what everybody may read and write', () => {
  const everything = resolveFiles(sandboxOf([special({ kind: 'root' }, 'write')]));
  expect([allowsAllFiles(everything), allowsAllReads(everything)]).toEqual([true, true]);
  const readable = resolveFiles(sandboxOf([READ_ROOT, rule('/work', 'write')]));
  expect([allowsAllFiles(readable), allowsAllReads(readable)]).toEqual([false, true]);
  const holes = resolveFiles(sandboxOf([READ_ROOT, rule('/work', 'deny')]));
  expect([allowsAllFiles(holes), allowsAllReads(holes)]).toEqual([false, false]);
  const patterns = resolveFiles(sandboxOf([READ_ROOT, pattern('/work/*.env', 'deny')]));
  expect(allowsAllReads(patterns)).toBe(false);
  const nothing = resolveFiles(sandboxOf([]));
  expect([allowsAllFiles(nothing), allowsAllReads(nothing)]).toEqual([false, false]);
});

it.each<[string, SandboxEntry[], object, string[]]>([
  ['the root', [READ_ROOT], {}, ['read /']],
  ['/tmp', [special({ kind: 'slash_tmp' }, 'write')], {}, ['write /tmp']],
  ['project roots', [special({ kind: 'project_roots' }, 'write')], AT_WORK, ['write /work']],
  ['their old name', [special({ kind: 'current_working_directory' }, 'write')], AT_WORK, ['write /work']],
  [
    'a part of them',
    [special({ kind: 'project_roots', subpath: 'a/b' }, 'read')],
    AT_WORK,
    ['read /work/a/b'],
  ],
  ['a part outside of them', [special({ kind: 'project_roots', subpath: '../b' }, 'write')], AT_WORK, []],
  ['no project roots', [special({ kind: 'project_roots' }, 'write')], { cwd: 'file:///work' }, []],
  [
    'the roots that the policy was written for',
    [special({ kind: 'project_roots' }, 'write')],
    { ...AT_WORK, policyContext: { cwd: 'file:///there', workspaceRoots: ['file:///there'] } },
    ['write /there'],
  ],
  [
    'temporary directories of the context',
    [special({ kind: 'tmpdir' }, 'write')],
    { temporaryDirectories: ['file:///var/tmp'] },
    ['write /var/tmp'],
  ],
  ['a name that is not known', [special({ kind: 'unknown', path: ':future' }, 'write')], {}, []],
  ['the other word for deny', [rule('/secret', 'none')], {}, ['deny /secret']],
  ['a path that is not in its shortest form', [rule('/a/../b/', 'read')], {}, ['read /b']],
])('resolves %s', (_name, entries, changes, expected) => {
  expect(list(entries, changes)).toEqual(expected);
});

it('takes the temporary directory from the program, and never the whole disk', () => {
  const tmpdir = [special({ kind: 'tmpdir' }, 'write')];
  expect(list(tmpdir, {}, { temporaryDirectories: ['/scratch'] })).toEqual(['write /scratch']);
  expect(list(tmpdir, {}, { temporaryDirectories: ['/', 'relative', '/a/..'] })).toEqual([]);
});

it('has one rule per path, the strictest of those that deny and the most generous of the others', () => {
  expect(list([rule('/a', 'read'), rule('/a', 'write')])).toEqual(['write /a']);
  expect(list([rule('/a', 'deny'), rule('/a', 'write')])).toEqual(['deny /a']);
  expect(list([rule('/a/b', 'read'), rule('/a', 'deny')])).toEqual(['deny /a', 'read /a/b']);
});

it('protects what is believed outside later, unless a rule is about it', () => {
  const { entries } = resolveFiles(sandboxOf([rule('/work', 'write'), rule('/work/.git', 'write')]));
  expect(entries.map(({ path, access }) => `${access} ${path.toString()}`)).toEqual([
    'write /work',
    'read /work/.agents',
    'read /work/.aws',
    'read /work/.codex',
    'write /work/.git',
  ]);
});

it('starts relative patterns where the context or the process does', () => {
  const relative = [READ_ROOT, pattern('**/*.env', 'deny')];
  expect(resolveFiles(sandboxOf(relative, { cwd: 'file:///work' })).denyGlobs).toEqual(['/work/**/*.env']);
  const host = { ...HOST, cwd: Buffer.from('/odd [1]') };
  expect(resolveFiles(sandboxOf(relative), host).denyGlobs).toEqual(['/odd \\[1\\]/**/*.env']);
});

it('refuses what it cannot place', () => {
  const needsCwd = 'file system sandbox context with dynamic permissions requires cwd';
  for (const entry of [special({ kind: 'project_roots' }, 'write'), pattern('*.env', 'deny')]) {
    const failure = failureOf(() => resolvePolicy(sandboxOf([entry]), HOST));
    expect([failure.failure, failure.message]).toEqual(['needs-cwd', needsCwd]);
  }
  const foreign: SandboxEntry = { path: { type: 'path', path: 'file:///C:/x' }, access: 'read' };
  const failure = failureOf(() => resolvePolicy(sandboxOf([foreign]), HOST));
  expect([failure.failure, failure.message]).toEqual([
    'foreign-path',
    "invalid sandbox permission path URI: 'file:///C:/x' is invalid on 'linux'",
  ]);
});

it.each([
  ['a pattern that allows', pattern('/work/*', 'read')],
  ['a name that is not known and is to be denied', special({ kind: 'unknown', path: ':future' }, 'deny')],
  ['the minimum for writing', special({ kind: 'minimal' }, 'write')],
])('refuses %s', (_name, entry) => {
  const { failure, message } = failureOf(() => resolvePolicy(sandboxOf([entry]), HOST));
  expect(failure).toBe('unenforceable');
  expect(message).toMatch(/^sandbox intent cannot be enforced on this executor: /);
});

it('gives policies a key that they share only when they allow the same', () => {
  const keyOf = (entries: SandboxEntry[], changes = {}) =>
    sandboxKey(resolvePolicy(sandboxOf(entries, changes), HOST));
  const base = [READ_ROOT, rule('/work', 'write')];
  expect(keyOf(base)).toBe(keyOf([...base].reverse()));
  const others = [
    keyOf(base, { network: 'enabled' }),
    keyOf([...base, rule('/x', 'deny')]),
    keyOf([...base, pattern('/x/*', 'deny')]),
    keyOf([...base, pattern('/x/*', 'deny')], { depth: 1 }),
    keyOf([...base, special({ kind: 'minimal' }, 'read')]),
  ];
  expect(new Set([keyOf(base), ...others]).size).toBe(others.length + 1);
});
