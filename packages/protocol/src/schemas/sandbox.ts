import type * as z from 'zod/mini';
import { describe, flag, integer, list, oneOf, pathUri, tagged, text } from '../fields.js';
import { isPlainUri } from '../path-uri.js';
import { defaulted, nullable, struct } from '../struct.js';

/** A path that is known only where the sandbox is set up. */
export const SpecialPath = tagged('FileSystemSpecialPath', 'kind', {
  root: {},
  minimal: {},
  current_working_directory: { subpath: nullable(text('Path below each project root.')) },
  project_roots: { subpath: nullable(text('Path below each project root.')) },
  tmpdir: {},
  slash_tmp: {},
  unknown: {
    path: text('A name that a newer client knows.'),
    subpath: nullable(text('Path below it.')),
  },
});
export type SpecialPath = z.output<typeof SpecialPath>;

export const SandboxPath = tagged('ExecFileSystemPath', 'type', {
  path: { path: pathUri('One path and everything below it.') },
  glob_pattern: { pattern: text('Pattern of paths; a relative one starts at `cwd`.') },
  special: { value: SpecialPath },
});
export type SandboxPath = z.output<typeof SandboxPath>;

/** What is allowed on one path. Names are in snake case from here inwards. */
export const SandboxEntry = struct('ExecFileSystemSandboxEntry', {
  path: SandboxPath,
  access: oneOf(['read', 'write', 'deny', 'none'], 'What is allowed; `none` is another word for `deny`.'),
  missing_path_behavior: nullable(oneOf(['skip'], 'What to do when the path does not exist.'), {
    omittable: true,
  }),
});
export type SandboxEntry = z.output<typeof SandboxEntry>;

const ACCESS: ReadonlySet<unknown> = new Set(['read', 'write', 'deny', 'none']);

/** Whether a value is an entry for one path in its usual form, with nothing else in it. Policies have thousands of them. */
function isPlainEntry(value: unknown): boolean {
  if (!hasMembers(value, ['path', 'access']) || !ACCESS.has(value.access)) return false;
  return (
    hasMembers(value.path, ['type', 'path']) && value.path.type === 'path' && isPlainPath(value.path.path)
  );
}

function isPlainPath(value: unknown): boolean {
  return typeof value === 'string' && isPlainUri(value);
}

function hasMembers<N extends string>(value: unknown, names: readonly N[]): value is Record<N, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));
}

const network = oneOf(['restricted', 'enabled'], 'Whether the network may be used.');

export const ManagedFileSystem = tagged('ExecManagedFileSystemPermissions', 'type', {
  restricted: {
    entries: list(SandboxEntry, 'What is allowed; everything else is not.', isPlainEntry),
    glob_scan_max_depth: nullable(
      integer('a nonzero usize', 'How deep patterns are looked up, in directories.'),
    ),
  },
  unrestricted: {},
});
export type ManagedFileSystem = z.output<typeof ManagedFileSystem>;

/** Who restricts what: this server, nobody, or somebody else around it. */
export const PermissionProfile = tagged('ExecPermissionProfile', 'type', {
  managed: { file_system: ManagedFileSystem, network },
  disabled: {},
  external: { network },
});
export type PermissionProfile = z.output<typeof PermissionProfile>;

const sandboxOverride = oneOf(
  ['noOverride', 'escalatedSandboxWithRestrictions', 'bypassSandboxFirstAttempt'],
  'How the caller was allowed to leave its usual sandbox.',
);
const workspaceRoots = list(pathUri(), 'Directories that `project_roots` stands for.', isPlainPath);
const userHomeDir = pathUri("The caller's home directory.");
const temporaryDirectories = list(pathUri(), 'Directories that `tmpdir` stands for.', isPlainPath);
const windowsSandboxLevel = oneOf(
  ['disabled', 'restricted-token', 'elevated', 'mxc'],
  'Kind of sandbox on Windows; required everywhere.',
);
const windowsSandboxProxySettingsMode = oneOf(
  ['reconcile', 'preserve'],
  'What happens to the proxy settings of the Windows sandbox.',
);
const useLegacyLandlock = flag('Use the older Linux sandbox.');

export const PolicyContext = struct('WireFileSystemPolicyContext', {
  cwd: nullable(pathUri('Directory that relative patterns of the policy start at.'), { omittable: true }),
  workspaceRoots: defaulted(workspaceRoots),
});
export type PolicyContext = z.output<typeof PolicyContext>;

/** What a file operation or a process may touch. */
export const SandboxContext = struct('WireFileSystemSandboxContext', {
  permissions: describe(PermissionProfile, 'Who restricts what.'),
  sandboxOverride: defaulted(sandboxOverride),
  cwd: nullable(pathUri('Directory that relative patterns and project roots start at.'), { omittable: true }),
  policyContext: nullable(describe(PolicyContext, 'Where the policy was written for, if elsewhere.'), {
    omittable: true,
  }),
  workspaceRoots: defaulted(workspaceRoots),
  userHomeDir: nullable(userHomeDir, { omittable: true }),
  temporaryDirectories: nullable(temporaryDirectories, { omittable: true }),
  windowsSandboxLevel,
  windowsSandboxProxySettingsMode: nullable(windowsSandboxProxySettingsMode, { omittable: true }),
  useLegacyLandlock: defaulted(useLegacyLandlock),
});
export type SandboxContext = z.output<typeof SandboxContext>;

/** The sandbox context of `capabilities/discoverV2`: `cwd` is required, and there is no policy context. */
export const DiscoverySandboxContext = struct('FileSystemSandboxContext', {
  permissions: describe(PermissionProfile, 'Who restricts what.'),
  sandboxOverride: defaulted(sandboxOverride),
  cwd: pathUri('Directory that relative patterns and project roots start at.'),
  workspaceRoots: defaulted(workspaceRoots),
  userHomeDir: nullable(userHomeDir, { omittable: true }),
  temporaryDirectories: nullable(temporaryDirectories, { omittable: true }),
  windowsSandboxLevel,
  windowsSandboxProxySettingsMode: nullable(windowsSandboxProxySettingsMode, { omittable: true }),
  useLegacyLandlock: defaulted(useLegacyLandlock),
});
export type DiscoverySandboxContext = z.output<typeof DiscoverySandboxContext>;
