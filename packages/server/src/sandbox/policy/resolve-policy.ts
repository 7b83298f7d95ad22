import {
  ForeignPathError,
  type ManagedFileSystem,
  pathUriToNative,
  type SandboxContext,
  type SandboxEntry,
  type SpecialPath,
} from '@exec-server/protocol';
import { baseName, isWithin, joinPath, normalizePath } from '../../fs/native-path.js';
import { orderEntries } from './access.js';
import { type FilePolicy, OPEN_POLICY, type PolicyEntry, type ResolvedPolicy } from './policy.js';
import { PolicyError, unenforceable } from './policy-error.js';

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

/**
 * Names below a writable directory that stay read-only, because what is in there is run or believed outside of the
 * sandbox later on. A rule for such a path itself goes before.
 */
export const PROTECTED_NAMES: readonly string[] = ['.git', '.agents', '.codex', '.aws'];

const ROOT = Buffer.from('/');
const SLASH_TMP = Buffer.from('/tmp');

type Restricted = Extract<ManagedFileSystem, { type: 'restricted' }>;

/** Says what a context allows on this host. Looks at no file. Throws {@link PolicyError}. */
export function resolvePolicy(context: PolicySource, host: PolicyHost): ResolvedPolicy {
  const { permissions } = context;
  switch (permissions.type) {
    case 'disabled':
      return OPEN_POLICY;
    case 'external':
      // Files are somebody else's business there.
      return { files: 'unrestricted', network: permissions.network };
    case 'managed': {
      const { file_system: files, network } = permissions;
      return {
        files: files.type === 'unrestricted' ? files.type : resolveFiles(files, context, host),
        network,
      };
    }
  }
}

function resolveFiles(files: Restricted, context: PolicySource, host: PolicyHost): FilePolicy {
  const places = new Places(context, host);
  const found: PolicyEntry[] = [];
  const denyGlobs: string[] = [];
  let minimal = false;
  for (const entry of files.entries) {
    const access = entry.access === 'none' ? 'deny' : entry.access;
    const { path } = entry;
    if (path.type === 'glob_pattern') {
      if (access !== 'deny') throw allowingPattern(path.pattern, access);
      denyGlobs.push(places.findPattern(path.pattern));
    } else if (path.type === 'path') {
      found.push({ path: toPermissionPath(path.path), access });
    } else if (path.value.kind === 'minimal') {
      if (access !== 'read') throw unenforceable(`\`minimal\` can only be given to read, not for ${access}`);
      minimal = true;
    } else {
      // What an unknown name would allow stays forbidden; what it would forbid cannot be found.
      if (path.value.kind === 'unknown' && access === 'deny')
        throw unenforceable(`\`${path.value.path}\` is not known here and cannot be denied`);
      found.push(...places.findSpecial(path.value).map((native) => ({ path: native, access })));
    }
  }
  const entries = orderEntries(protectNames(found));
  const [root] = entries;
  const rootAccess = root?.path.equals(ROOT) ? root.access : 'deny';
  const takesNoMore = denyGlobs.length === 0;
  return {
    entries,
    denyGlobs,
    globScanMaxDepth: files.glob_scan_max_depth ?? undefined,
    minimal,
    fullRead: rootAccess !== 'deny' && takesNoMore && entries.every(({ access }) => access !== 'deny'),
    fullWrite: rootAccess === 'write' && takesNoMore && entries.every(({ access }) => access === 'write'),
  };
}

/** The directories that a context speaks of by name. */
class Places {
  constructor(
    private readonly context: PolicySource,
    private readonly host: PolicyHost,
  ) {}

  findSpecial(special: SpecialPath): Buffer[] {
    switch (special.kind) {
      case 'root':
        return [ROOT];
      case 'slash_tmp':
        return [SLASH_TMP];
      case 'tmpdir':
        return this.#findTemporary();
      case 'current_working_directory':
      case 'project_roots':
        return this.#findBelowRoots(special.subpath ?? undefined);
      case 'minimal':
      case 'unknown':
        return [];
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

  #findTemporary(): Buffer[] {
    const given = this.context.temporaryDirectories?.map(toPermissionPath);
    const told = this.host.temporaryDirectories
      .filter((path) => path.startsWith('/'))
      .map((path) => normalizePath(Buffer.from(path)));
    // The whole disk is no temporary directory, whatever the variable says.
    return [...(given ?? []), ...told].filter((path) => !path.equals(ROOT));
  }

  #findBelowRoots(subpath: string | undefined): Buffer[] {
    this.#findCwd();
    const uris = this.context.policyContext?.workspaceRoots ?? this.context.workspaceRoots ?? [];
    return uris.map(toPermissionPath).flatMap((root) => {
      if (subpath === undefined) return [root];
      const path = normalizePath(joinPath(root, Buffer.from(subpath)));
      // A part of a root is never outside of it.
      return isWithin(path, root) ? [path] : [];
    });
  }
}

function protectNames(entries: readonly PolicyEntry[]): PolicyEntry[] {
  const writable = entries.filter(
    ({ path, access }) =>
      access === 'write' && !path.equals(ROOT) && !PROTECTED_NAMES.includes(baseName(path).toString()),
  );
  const protectedPaths = writable.flatMap(({ path }) =>
    PROTECTED_NAMES.map((name) => joinPath(path, Buffer.from(name))),
  );
  const isSettled = (path: Buffer) => entries.some((entry) => entry.path.equals(path));
  const added = protectedPaths.filter((path) => !isSettled(path));
  return [...entries, ...added.map((path): PolicyEntry => ({ path, access: 'read', implied: true }))];
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

function needsCwd(): PolicyError {
  return new PolicyError('needs-cwd', 'file system sandbox context with dynamic permissions requires cwd');
}

function allowingPattern(pattern: string, access: SandboxEntry['access']): PolicyError {
  return unenforceable(`pattern \`${pattern}\` can only be denied, not given for ${access}`);
}
