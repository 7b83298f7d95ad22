import type { SandboxContext, SandboxEntry } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { MAX_PATTERN_CHARACTERS } from '../../../src/sandbox/policy/glob.js';
import { allowsAllFiles, allowsAllReads, isOpen, sandboxKey } from '../../../src/sandbox/policy/policy.js';
import { PolicyError } from '../../../src/sandbox/policy/policy-error.js';
import { MAX_RULES, type PolicyHost, resolvePolicy } from '../../../src/sandbox/policy/resolve-policy.js';
import {
  pattern,
  READ_ROOT,
  resolveFiles,
  resolveNow,
  rule,
  sandboxOf,
  special,
} from '../../support/sandbox.js';

const HOST: PolicyHost = { temporaryDirectories: [] };
const AT_WORK = { cwd: 'file:///work', workspaceRoots: ['file:///work'] };

/** The rules as `access path`, without those for names that are always protected. */
function list(entries: readonly SandboxEntry[], changes: object = {}, host = HOST): string[] {
  return resolveFiles(sandboxOf(entries, changes), host)
    .rules.rules.map(({ path, access }) => `${access} ${path.toString()}`)
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
  expect(isOpen(resolveNow(permissionsOf({ type: 'disabled' }), HOST))).toBe(true);
  const unrestricted = { type: 'unrestricted' } as const;
  expect(
    isOpen(
      resolveNow(permissionsOf({ type: 'managed', file_system: unrestricted, network: 'enabled' }), HOST),
    ),
  ).toBe(true);
});

it('restricts the network also where files are somebody else’s business', () => {
  const policy = resolveNow(permissionsOf({ type: 'external', network: 'restricted' }), HOST);
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
  const { rules } = resolveFiles(sandboxOf([rule('/work', 'write'), rule('/work/.git', 'write')]));
  expect(rules.rules.map(({ path, access }) => `${access} ${path.toString()}`)).toEqual([
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
    const failure = failureOf(() => resolveNow(sandboxOf([entry]), HOST));
    expect([failure.failure, failure.message]).toEqual(['needs-cwd', needsCwd]);
  }
  const foreign: SandboxEntry = { path: { type: 'path', path: 'file:///C:/x' }, access: 'read' };
  const failure = failureOf(() => resolveNow(sandboxOf([foreign]), HOST));
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
  const { failure, message } = failureOf(() => resolveNow(sandboxOf([entry]), HOST));
  expect(failure).toBe('unenforceable');
  expect(message).toMatch(/^sandbox intent cannot be enforced on this executor: /);
});

it('gives policies a key that they share only when they allow the same', async () => {
  const keyOf = (entries: SandboxEntry[], changes = {}) =>
    sandboxKey(resolveNow(sandboxOf(entries, changes), HOST));
  const base = [READ_ROOT, rule('/work', 'write')];
  expect(await keyOf(base)).toBe(await keyOf([...base].reverse()));
  const others = await Promise.all([
    keyOf(base, { network: 'enabled' }),
    keyOf([...base, rule('/x', 'deny')]),
    keyOf([...base, pattern('/x/*', 'deny')]),
    keyOf([...base, pattern('/x/*', 'deny')], { depth: 1 }),
    keyOf([...base, special({ kind: 'minimal' }, 'read')]),
  ]);
  expect(new Set([await keyOf(base), ...others]).size).toBe(others.length + 1);
});

it.each([
  [MAX_RULES - 1, true],
  [MAX_RULES, true],
  [MAX_RULES + 1, false],
])('of %i rules takes all: %s', async (count, isTaken) => {
  const places = Array.from({ length: count - 3 }, (_, index) => `/work/${index}`);
  const mixed = [READ_ROOT, rule('/a', 'write'), pattern('/b/*', 'deny')];
  const ways = {
    entries: sandboxOf([...mixed, ...places.map((path) => rule(path, 'read'))]),
    // A rule for all roots is as many as there are roots, also those that it leads out of.
    roots: sandboxOf([...mixed, special({ kind: 'project_roots', subpath: '../x' }, 'read')], {
      ...AT_WORK,
      workspaceRoots: places.map((path) => `file://${path}`),
    }),
  };
  for (const context of Object.values(ways)) {
    const resolving = (async () => resolvePolicy(context, HOST))();
    if (isTaken) expect(await resolving).toMatchObject({ files: { ruleCount: count } });
    else
      await expect(resolving).rejects.toMatchObject({
        failure: 'unenforceable',
        message: expect.stringContaining(`at most ${MAX_RULES} rules`) as string,
      });
  }
});

it.each([
  [MAX_PATTERN_CHARACTERS - 1, true],
  [MAX_PATTERN_CHARACTERS, true],
  [MAX_PATTERN_CHARACTERS + 1, false],
])('takes a pattern of %i characters with its directory: %s', (length, isTaken) => {
  const texts = [`/work/${'*'.repeat(length - 6)}`, '*'.repeat(length - 6)];
  for (const text of texts) {
    const resolve = () => resolveFiles(sandboxOf([READ_ROOT, pattern(text, 'deny')], AT_WORK), HOST);
    if (isTaken) expect(resolve().denyGlobs[0]).toHaveLength(length);
    else expect(failureOf(resolve).message).toContain(`at most ${MAX_PATTERN_CHARACTERS} characters`);
  }
});

it('allows under many rules what it allows under few', async () => {
  const places = Array.from({ length: 4_000 }, (_, index) => `/many/${index % 7}/${index}`);
  const policy = await resolvePolicy(
    sandboxOf([
      ...places.map((path, index) => rule(path, index % 2 === 0 ? 'read' : 'deny')),
      rule('/many', 'write'),
    ]),
    HOST,
  );
  if (policy.files === 'unrestricted') throw new Error('the policy does not restrict files');
  const { rules } = policy.files;
  for (const [index, path] of places.entries()) {
    expect(rules.accessTo(Buffer.from(`${path}/below`))).toBe(index % 2 === 0 ? 'read' : 'deny');
    expect(rules.accessTo(Buffer.from(`${path}-beside`))).toBe('write');
  }
});
