import { nativeToPathUri, type SandboxContext, type SandboxEntry } from '@exec-server/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { runInTurns } from '../../packages/server/src/loop-turn.js';
import { type CompiledGlob, compileGlob } from '../../packages/server/src/sandbox/policy/glob.js';
import {
  type Access,
  allowsAllFiles,
  allowsAllReads,
  type PolicyEntry,
  type ResolvedPolicy,
} from '../../packages/server/src/sandbox/policy/policy.js';
import { PolicyError } from '../../packages/server/src/sandbox/policy/policy-error.js';
import {
  type PolicySource,
  PROTECTED_NAMES,
} from '../../packages/server/src/sandbox/policy/resolve-policy.js';
import { RuleTree } from '../../packages/server/src/sandbox/policy/rule-tree.js';
import { resolveNow } from '../../packages/server/test/support/sandbox.js';
import { matchesPattern } from './glob-oracle.js';
import { testProperty } from './property.js';

/** Few names, so that random paths meet each other. */
const NAMES = ['a', 'ab', 'b', '.git', '.codex', 'é', 'a.b', 'tmp'];

const pathText = fc.array(fc.constantFrom(...NAMES), { maxLength: 4 }).map((names) => `/${names.join('/')}`);
const pathUri = pathText.map((path) => nativeToPathUri(path));
const subpath = fc.option(
  fc.array(fc.constantFrom(...NAMES, '..', '.', ''), { maxLength: 3 }).map((names) => names.join('/')),
  { nil: undefined },
);

/** Patterns of plain characters and those with a meaning, sometimes malformed. */
const pattern = fc
  .array(
    fc.array(
      fc.constantFrom('a', 'b', '.', 'é', '*', '**', '?', '[ab]', '[!a]', '[b-a]', '{a,b}', '{', '\\*', '['),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((components) => components.map((parts) => parts.join('')).join('/'));

const special = fc.oneof(
  fc.record({
    kind: fc.constantFrom('root' as const, 'minimal' as const, 'tmpdir' as const, 'slash_tmp' as const),
  }),
  fc.record({
    kind: fc.constantFrom('current_working_directory' as const, 'project_roots' as const),
    subpath,
  }),
  fc.record({ kind: fc.constant('unknown' as const), path: fc.constant('somewhere'), subpath }),
);

const entry: fc.Arbitrary<SandboxEntry> = fc.record({
  path: fc.oneof(
    fc.record({ type: fc.constant('path' as const), path: pathUri }),
    fc.record({ type: fc.constant('special' as const), value: special }),
    fc.record({
      type: fc.constant('glob_pattern' as const),
      pattern: fc.tuple(fc.constantFrom('', '/'), pattern).map((parts) => parts.join('')),
    }),
  ),
  access: fc.constantFrom('read' as const, 'write' as const, 'deny' as const, 'none' as const),
});

const network = fc.constantFrom('restricted' as const, 'enabled' as const);
const permissions: fc.Arbitrary<SandboxContext['permissions']> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ type: fc.constant('disabled' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('external' as const), network }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('managed' as const),
      network,
      file_system: fc.oneof(
        { weight: 1, arbitrary: fc.record({ type: fc.constant('unrestricted' as const) }) },
        {
          weight: 8,
          arbitrary: fc.record({
            type: fc.constant('restricted' as const),
            entries: fc.array(entry, { maxLength: 6 }),
          }),
        },
      ),
    }),
  },
);

const context: fc.Arbitrary<PolicySource> = fc.record(
  {
    permissions,
    cwd: pathUri,
    workspaceRoots: fc.array(pathUri, { maxLength: 3 }),
    temporaryDirectories: fc.array(pathUri, { maxLength: 2 }),
    policyContext: fc.record(
      { cwd: pathUri, workspaceRoots: fc.array(pathUri, { maxLength: 2 }) },
      { requiredKeys: [], noNullPrototype: true },
    ),
  },
  { requiredKeys: ['permissions'], noNullPrototype: true },
);

const HOST = { temporaryDirectories: ['/tmp/a'] };
const RANK: Readonly<Record<Access, number>> = { deny: 0, read: 1, write: 2 };

/** What the words of a context give on a path: the most that its most specific rules say, and a denial before all. */
function grantedBy(source: PolicySource, path: string): Access {
  const { permissions: profile } = source;
  if (profile.type !== 'managed' || profile.file_system.type === 'unrestricted') return 'write';
  const covering = profile.file_system.entries
    .flatMap(({ path: place, access }) =>
      placesOf(source, place).map((root) => ({ root, access: access === 'none' ? 'deny' : access })),
    )
    .filter(({ root }) => root === '/' || path === root || path.startsWith(`${root}/`));
  const longest = Math.max(...covering.map(({ root }) => root.length));
  const deciding = covering.filter(({ root }) => root.length === longest).map(({ access }) => access);
  if (deciding.length === 0 || deciding.includes('deny')) return 'deny';
  return deciding.includes('write') ? 'write' : 'read';
}

function placesOf(source: PolicySource, place: SandboxEntry['path']): string[] {
  if (place.type === 'glob_pattern') return [];
  if (place.type === 'path') return [textOf(place.path)];
  switch (place.value.kind) {
    case 'root':
      return ['/'];
    case 'slash_tmp':
      return ['/tmp'];
    case 'tmpdir':
      return [...(source.temporaryDirectories ?? []).map(textOf), ...HOST.temporaryDirectories].filter(
        (path) => path !== '/',
      );
    case 'current_working_directory':
    case 'project_roots': {
      const { subpath: below } = place.value;
      const roots = source.policyContext?.workspaceRoots ?? source.workspaceRoots ?? [];
      return roots.map(textOf).flatMap((root) => {
        const path = new URL(`file://${root === '/' ? '' : root}/${below ?? ''}`).pathname;
        const trimmed = decodeURI(path)
          .replaceAll(/\/+/g, '/')
          .replace(/(?<=.)\/$/, '');
        return root === '/' || trimmed === root || trimmed.startsWith(`${root}/`) ? [trimmed] : [];
      });
    }
    default:
      return [];
  }
}

const textOf = (uri: string) => decodeURI(new URL(uri).pathname);

function allowedOn({ files }: ResolvedPolicy, path: string): Access {
  return files === 'unrestricted' ? 'write' : files.rules.accessTo(Buffer.from(path));
}

function resolveOrRefuse(source: PolicySource): ResolvedPolicy | undefined {
  try {
    return resolveNow(source, HOST);
  } catch (error) {
    expect(error).toBeInstanceOf(PolicyError);
    return undefined;
  }
}

testProperty(
  'a policy allows what its context gives, less what is protected, and never more',
  fc.property(context, fc.array(pathText, { minLength: 1, maxLength: 8 }), (source, paths) => {
    const policy = resolveOrRefuse(source);
    if (policy === undefined) return;
    for (const path of paths) {
      const allowed = allowedOn(policy, path);
      const granted = grantedBy(source, path);
      if (PROTECTED_NAMES.some((name) => path.split('/').includes(name)))
        expect(RANK[allowed]).toBeLessThanOrEqual(RANK[granted]);
      else expect(allowed).toBe(granted);
      if (allowsAllReads(policy.files)) expect(allowed).not.toBe('deny');
      if (allowsAllFiles(policy.files)) expect(allowed).toBe('write');
    }
  }),
  4_000,
);

/** Names that sort before and behind a separator, and such that begin alike. */
const SORTING_NAMES = ['a', 'a-', 'a.b', 'aa', 'a\u0001', '!', '~', 'é', '.git'];
const sortingPath = fc
  .array(fc.constantFrom(...SORTING_NAMES), { maxLength: 5 })
  .map((names) => Buffer.from(`/${names.join('/')}`));
const policyEntry: fc.Arbitrary<PolicyEntry> = fc.record({
  path: sortingPath,
  access: fc.constantFrom('read' as const, 'write' as const, 'deny' as const),
});

/** The same as a tree of rules, by looking at all of them for every question. */
function askAll(entries: readonly PolicyEntry[], path: Buffer) {
  const [asked, ...paths] = [path, ...entries.map((rule) => rule.path)].map((bytes) =>
    bytes.toString('latin1'),
  );
  const isWithin = (below = '', above = '') =>
    above === '/' || below === above || below.startsWith(`${above}/`);
  const covering = entries.filter((_, index) => isWithin(asked, paths[index]));
  const longest = Math.max(...covering.map((rule) => rule.path.length));
  const deciding = covering.filter((rule) => rule.path.length === longest).map(({ access }) => access);
  const within = paths.filter((candidate) => isWithin(candidate, asked));
  const accessOf = (place: string) => {
    const rules = entries.filter((_, index) => paths[index] === place).map(({ access }) => access);
    return (['deny', 'write', 'read'] as const).find((access) => rules.includes(access));
  };
  return {
    access: (['deny', 'write', 'read'] as const).find((access) => deciding.includes(access)) ?? 'deny',
    own: accessOf(asked ?? ''),
    hasOpen: within.some((place) => accessOf(place) !== 'deny'),
  };
}

testProperty(
  'a tree of rules answers as one would who looks at all of them, and has parents first',
  fc.property(
    fc.array(policyEntry, { maxLength: 40 }),
    fc.array(sortingPath, { minLength: 1, maxLength: 8 }),
    (entries, paths) => {
      const tree = runInTurns(RuleTree.build(entries)) as RuleTree;
      for (const path of [...paths, ...entries.map((rule) => rule.path)]) {
        expect({
          access: tree.accessTo(path),
          own: tree.get(path)?.access,
          hasOpen: tree.hasOpenWithin(path),
        }).toEqual(askAll(entries, path));
      }
      const order = tree.rules.map(({ path }) => path.toString('latin1'));
      expect(new Set(order).size).toBe(order.length);
      for (const [index, path] of order.entries())
        expect(order.slice(0, index).filter((before) => before.startsWith(`${path}/`))).toEqual([]);
    },
  ),
  1_500,
);

testProperty(
  'the network is open only where a context says so',
  fc.property(context, (source) => {
    const policy = resolveOrRefuse(source);
    const { permissions: profile } = source;
    if (policy?.network !== 'enabled') return;
    expect(profile.type === 'disabled' || profile.network === 'enabled').toBe(true);
  }),
  1_000,
);

testProperty(
  'a pattern to deny is kept in every policy, and never makes everything readable',
  fc.property(context, (source) => {
    const policy = resolveOrRefuse(source);
    if (policy === undefined || policy.files === 'unrestricted') return;
    const { permissions: profile } = source;
    if (profile.type !== 'managed' || profile.file_system.type !== 'restricted') return;
    const patterns = profile.file_system.entries.filter(({ path }) => path.type === 'glob_pattern');
    expect(policy.files.denyGlobs).toHaveLength(patterns.length);
    if (patterns.length > 0) expect(allowsAllReads(policy.files)).toBe(false);
  }),
  1_000,
);

/** What a pattern that is refused has in it: an empty range, a choice or a set that is not closed, a parent, or nothing. */
const MALFORMED = /\[b-a\]|\{(?!a,b\})|\[(?!ab\]|!a\])|\.\.|^[./]*$/;

function compileOrRefuse(text: string): CompiledGlob | undefined {
  try {
    return compileGlob(text);
  } catch (error) {
    expect(error).toBeInstanceOf(PolicyError);
    return undefined;
  }
}

testProperty(
  'a pattern matches what its words say',
  fc.property(pattern, pathText, (text, path) => {
    const glob = compileOrRefuse(`/${text}`);
    // Parents are resolved, or refused, before anything is matched; the tests of globs have them.
    if (text.split('/').includes('..')) return;
    if (text.includes('[b-a]')) expect(glob).toBeUndefined();
    if (glob === undefined) expect(text).toMatch(MALFORMED);
    else expect(glob.matches(path)).toBe(matchesPattern(`/${text}`, path));
  }),
  6_000,
);
