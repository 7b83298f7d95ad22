import {
  type app,
  invalidRequest,
  nativeToPathUri,
  type SandboxContext,
  type SandboxEntry,
} from '@exec-server/protocol';
import type { Confinement } from '../../process/confinement.js';

type Permissions = SandboxContext['permissions'];
type SpecialKind = 'root' | 'tmpdir' | 'slash_tmp';

/** Policies that have a name of their own. */
const BUILT_IN_PROFILES: Readonly<Record<string, app.SandboxPolicy>> = {
  ':read-only': { type: 'readOnly' },
  ':workspace': { type: 'workspaceWrite' },
  ':danger-full-access': { type: 'dangerFullAccess' },
};

/** The policy that a profile stands for. Throws an `RpcError`. */
export function findProfile(name: string): app.SandboxPolicy {
  const policy = Object.hasOwn(BUILT_IN_PROFILES, name) ? BUILT_IN_PROFILES[name] : undefined;
  if (policy !== undefined) return policy;
  const problem = name.startsWith(':')
    ? `default_permissions refers to unknown built-in profile \`${name}\``
    : 'default_permissions requires a `[permissions]` table';
  throw invalidRequest(`invalid permission profile: ${problem}`);
}

/** A policy as the engine understands it, which alone decides whether it can be kept. Without one nothing is confined. */
export function toConfinement(policy: app.SandboxPolicy | undefined, cwd: string): Confinement {
  if (policy === undefined) return {};
  const directory = nativeToPathUri(cwd);
  const sandbox: SandboxContext = {
    permissions: toPermissions(policy),
    cwd: directory,
    workspaceRoots: [directory],
    windowsSandboxLevel: 'disabled',
  };
  return { sandbox };
}

function toPermissions(policy: app.SandboxPolicy): Permissions {
  switch (policy.type) {
    case 'dangerFullAccess':
    // Whatever it says of the network is what somebody else sees to.
    case 'externalSandbox':
      return { type: 'disabled' };
    case 'readOnly':
      return restrict([], policy.networkAccess);
    case 'workspaceWrite':
      return restrict(listWritable(policy), policy.networkAccess);
  }
}

/** Everything may be read, and what is listed be written. */
function restrict(writable: readonly SandboxEntry[], networkAccess = false): Permissions {
  return {
    type: 'managed',
    file_system: { type: 'restricted', entries: [allow('read', 'root'), ...writable] },
    network: networkAccess ? 'enabled' : 'restricted',
  };
}

function listWritable(policy: Extract<app.SandboxPolicy, { type: 'workspaceWrite' }>): SandboxEntry[] {
  const roots = (policy.writableRoots ?? []).map(
    (root): SandboxEntry => ({ path: { type: 'path', path: nativeToPathUri(root) }, access: 'write' }),
  );
  return [
    { path: { type: 'special', value: { kind: 'project_roots' } }, access: 'write' },
    ...roots,
    ...(policy.excludeTmpdirEnvVar ? [] : [allow('write', 'tmpdir')]),
    ...(policy.excludeSlashTmp ? [] : [allow('write', 'slash_tmp')]),
  ];
}

function allow(access: 'read' | 'write', kind: SpecialKind): SandboxEntry {
  return { path: { type: 'special', value: { kind } }, access };
}
