import {
  ForeignPathError,
  type ManagedFileSystem,
  pathUriToNative,
  type SandboxContext,
  type SandboxEntry,
  type SpecialPath,
} from '@exec-server/protocol';
import { baseName, isWithin, joinPath, normalizePath } from '../../fs/native-path.js';
import { runInTurns, type Steps, whenKnown } from '../../loop-turn.js';
import { MAX_PATTERN_CHARACTERS } from './glob.js';
import { type FilePolicy, OPEN_POLICY, type PolicyEntry, type ResolvedPolicy } from './policy.js';
import { PolicyError, unenforceable } from './policy-error.js';
import { RuleTree } from './rule-tree.js';

/** Rules and patterns that one sandbox context may come to; a rule for all roots counts once for each of them. */
export const MAX_RULES = 10_000;

/** What a context leaves for the host to say. */
export interface PolicyHost {
  /** Directories that `tmpdir` stands for, where the context names none: those that programs are told by `TMPDIR`. */
  readonly temporaryDirectories: readonly string[];
  /** Where relative patterns start if the context does not say; absent where it must say. */
  readonly cwd?: Uint8Array | undefined;
}

/** The parts of a context that say what is allowed; both kinds of context have them. */
export type PolicySource = Pick<
  SandboxContext,
  'permissions' | 'cwd' | 'policyContext' | 'workspaceRoots' | 'temporaryDirectories'
>;

/** Entries that take so long to decode that nothing else is done with them in the same turn. */
const MANY_ENTRIES = 256;

/**
 * Names below a writable directory that stay read-only, because what is in there is run or believed outside of the
 * sandbox later on. A rule for such a path itself goes before.
 */
export const PROTECTED_NAMES: readonly string[] = ['.git', '.agents', '.codex', '.aws'];

const ROOT = Buffer.from('/');
const SLASH_TMP = Buffer.from('/tmp');

type Restricted = Extract<ManagedFileSystem, { type: 'restricted' }>;

/**
 * Says what a context allows on this host, at once unless it has very many rules. Looks at no file. Throws or rejects with
 * {@link PolicyError}.
 */
export function resolvePolicy(
  context: PolicySource,
  host: PolicyHost,
): ResolvedPolicy | Promise<ResolvedPolicy> {
  const network = networkOf(context);
  const { permissions } = context;
  if (permissions.type === 'disabled') return OPEN_POLICY;
  // Files are somebody else's business there.
  if (permissions.type === 'external') return { files: 'unrestricted', network };
  const { file_system: files } = permissions;
  if (files.type === 'unrestricted') return { files: 'unrestricted', network };
  const resolved = runInTurns(resolveFiles(files, context, host), files.entries.length > MANY_ENTRIES);
  return whenKnown(resolved, (policy) => ({ files: policy, network }));
}

/** What a context says about the network. */
export function networkOf({ permissions }: PolicySource): ResolvedPolicy['network'] {
  return permissions.type === 'disabled' ? OPEN_POLICY.network : permissions.network;
}

/** Whether what a context allows depends on where the host has its temporary files. */
export function asksForTemporary({ permissions }: PolicySource): boolean {
  if (permissions.type !== 'managed' || permissions.file_system.type !== 'restricted') return false;
  const { entries } = permissions.file_system;
  return entries.some(({ path }) => path.type === 'special' && path.value.kind === 'tmpdir');
}

function* resolveFiles(files: Restricted, context: PolicySource, host: PolicyHost): Steps<FilePolicy> {
  if (files.entries.length > MAX_RULES) throw tooMany(`${files.entries.length} entries`);
  const places = new Places(context, host);
  const found: PolicyEntry[] = [];
  const denyGlobs: string[] = [];
  let minimal = false;
  let ruleCount = 0;
  for (const entry of files.entries) {
    yield;
    const access = entry.access === 'none' ? 'deny' : entry.access;
    const { path } = entry;
    if (path.type === 'glob_pattern') {
      if (access !== 'deny') throw allowingPattern(path.pattern, access);
      denyGlobs.push(checkLength(places.findPattern(path.pattern)));
    } else if (path.type === 'path') {
      found.push({ path: toPermissionPath(path.path), access });
    } else if (path.value.kind === 'minimal') {
      if (access !== 'read') throw unenforceable(`\`minimal\` can only be given to read, not for ${access}`);
      minimal = true;
    } else {
      // What an unknown name would allow stays forbidden; what it would forbid cannot be found.
      if (path.value.kind === 'unknown' && access === 'deny')
        throw unenforceable(`\`${path.value.path}\` is not known here and cannot be denied`);
      for (const native of places.findSpecial(path.value)) {
        yield;
        if (++ruleCount > MAX_RULES) throw tooMany('more');
        if (native !== undefined) found.push({ path: native, access });
      }
      continue;
    }
    if (++ruleCount > MAX_RULES) throw tooMany('more');
  }
  const rules = yield* RuleTree.build(yield* protectNames(found));
  const rootAccess = rules.accessTo(ROOT);
  const takesNoMore = denyGlobs.length === 0;
  return {
    rules,
    ruleCount,
    denyGlobs,
    globScanMaxDepth: files.glob_scan_max_depth ?? undefined,
    minimal,
    fullRead: rootAccess !== 'deny' && takesNoMore && rules.rules.every(({ access }) => access !== 'deny'),
    fullWrite: rootAccess === 'write' && takesNoMore && rules.rules.every(({ access }) => access === 'write'),
  };
}

/** The directories that a context speaks of by name. */
class Places {
  constructor(
    private readonly context: PolicySource,
    private readonly host: PolicyHost,
  ) {}

  /** What a name stands for; nothing for each place that it stands for and that does not count. */
  *findSpecial(special: SpecialPath): Generator<Buffer | undefined, void> {
    switch (special.kind) {
      case 'root':
        yield ROOT;
        break;
      case 'slash_tmp':
        yield SLASH_TMP;
        break;
      case 'tmpdir':
        yield* this.#findTemporary();
        break;
      case 'current_working_directory':
      case 'project_roots':
        yield* this.#findBelowRoots(special.subpath ?? undefined);
        break;
      case 'minimal':
      case 'unknown':
    }
  }

  findPattern(pattern: string): string {
    if (pattern.startsWith('/')) return pattern;
    const cwd = this.#findCwd();
    return `${escapePattern(cwd.toString())}${cwd.equals(ROOT) ? '' : '/'}${pattern}`;
  }

  #findCwd(): Buffer {
    const uri = this.context.policyContext?.cwd ?? this.context.cwd;
    if (uri) return toPermissionPath(uri);
    if (this.host.cwd !== undefined) return normalizePath(this.host.cwd);
    throw needsCwd();
  }

  *#findTemporary(): Generator<Buffer | undefined, void> {
    // The whole disk is no temporary directory, whatever the variable says.
    const unlessRoot = (path: Buffer) => (path.equals(ROOT) ? undefined : path);
    for (const uri of this.context.temporaryDirectories ?? []) yield unlessRoot(toPermissionPath(uri));
    for (const path of this.host.temporaryDirectories)
      if (path.startsWith('/')) yield unlessRoot(normalizePath(Buffer.from(path)));
  }

  *#findBelowRoots(subpath: string | undefined): Generator<Buffer | undefined, void> {
    this.#findCwd();
    for (const uri of this.context.policyContext?.workspaceRoots ?? this.context.workspaceRoots ?? []) {
      const root = toPermissionPath(uri);
      const path = subpath === undefined ? root : normalizePath(joinPath(root, Buffer.from(subpath)));
      // A part of a root is never outside of it.
      yield isWithin(path, root) ? path : undefined;
    }
  }
}

/** Adds rules for what is protected in writable directories, where no other rule is about just that. */
function* protectNames(entries: readonly PolicyEntry[]): Steps<PolicyEntry[]> {
  const settled = new Set<string>();
  for (const { path } of entries) {
    settled.add(path.toString('latin1'));
    yield;
  }
  const added: PolicyEntry[] = [];
  for (const { path, access } of entries) {
    yield;
    if (access !== 'write' || path.equals(ROOT) || PROTECTED_NAMES.includes(baseName(path).toString()))
      continue;
    const names = PROTECTED_NAMES.map((name) => joinPath(path, Buffer.from(name)));
    for (const name of names)
      if (!settled.has(name.toString('latin1'))) added.push({ path: name, access: 'read', implied: true });
  }
  return [...entries, ...added];
}

function toPermissionPath(uri: string): Buffer {
  try {
    return normalizePath(pathUriToNative(uri));
  } catch (error) {
    if (!(error instanceof ForeignPathError)) throw error;
    throw new PolicyError('foreign-path', `invalid sandbox permission path URI: ${error.message}`, {
      cause: error,
    });
  }
}

/** A directory's name is meant as it is, also where it has characters that patterns use. */
function escapePattern(path: string): string {
  return path.replaceAll(/[*?[\]{}\\]/g, '\\$&');
}

function checkLength(pattern: string): string {
  if (pattern.length <= MAX_PATTERN_CHARACTERS) return pattern;
  throw unenforceable(
    `a pattern has at most ${MAX_PATTERN_CHARACTERS} characters with its directory, and one here has ${pattern.length}; use several shorter ones`,
  );
}

function tooMany(count: string): PolicyError {
  return unenforceable(
    `a sandbox has at most ${MAX_RULES} rules, and this one has ${count}; name directories instead of what is in them`,
  );
}

function needsCwd(): PolicyError {
  return new PolicyError('needs-cwd', 'file system sandbox context with dynamic permissions requires cwd');
}

function allowingPattern(pattern: string, access: SandboxEntry['access']): PolicyError {
  return unenforceable(`pattern \`${pattern}\` can only be denied, not given for ${access}`);
}
