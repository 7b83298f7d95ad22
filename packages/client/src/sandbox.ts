import type { ParamsOf, SandboxContext, SandboxEntry } from '@exec-server/protocol';
import { checkOptions } from './check-options.js';
import { toChildUri, toPathUri } from './fs/remote-path.js';
import { requireOneOf, usageError } from './usage.js';

/** Which hosts may be reached: none, all, or those of a list of domain patterns such as `*.example.com`. */
export type SandboxNetwork = 'off' | 'on' | { readonly allow: readonly string[] };

/** What a program may touch. Paths are absolute, or relative to its directory. */
export interface SandboxRules {
  /** What the rules come on top of. @default 'read-only', without `read` */
  readonly base?: 'read-only' | 'workspace-write';
  /** What may be changed, with everything below it. @default nothing */
  readonly write?: readonly (string | URL)[];
  /** What may be read, with everything below it, beside what programs need to run. @default everything */
  readonly read?: readonly (string | URL)[];
  /** What may be neither read nor changed. With `*` a pattern, such as `**\/.env`. @default nothing */
  readonly deny?: readonly (string | URL)[];
  /** @default 'off' */
  readonly network?: SandboxNetwork;
}

/**
 * What a program may touch. `read-only`: everything may be read and nothing changed. `workspace-write`: its directory and
 * the temporary directories may be changed, too. Both without network. Or rules, or a context of the wire.
 */
export type Sandbox = 'read-only' | 'workspace-write' | SandboxRules | SandboxContext;

/** What `process/start` is told of a sandbox. */
export type Confinement = Pick<
  ParamsOf<'process/start'>,
  'sandbox' | 'enforceManagedNetwork' | 'networkProxy'
>;

const NAMES = ['read-only', 'workspace-write'] as const;
const RULE_NAMES: readonly (keyof SandboxRules)[] = ['base', 'write', 'read', 'deny', 'network'];

type Special = 'root' | 'minimal' | 'project_roots' | 'tmpdir' | 'slash_tmp';

/** A sandbox in the words of the wire, for a program in the directory `cwd`, a `file:` URL. */
export function toConfinement(sandbox: Sandbox, cwd: string): Confinement {
  if (typeof sandbox === 'string') {
    requireOneOf('sandbox', sandbox, NAMES);
    return confineByRules({ base: sandbox }, cwd);
  }
  if (typeof sandbox !== 'object' || sandbox === null)
    throw usageError('`sandbox` must be "read-only", "workspace-write" or an object with rules');
  if ('permissions' in sandbox) return { sandbox };
  return confineByRules(sandbox, cwd);
}

function confineByRules(rules: SandboxRules, cwd: string): Confinement {
  checkOptions('`sandbox`', rules, RULE_NAMES);
  const { base = 'read-only', read, write = [], deny = [], network = 'off' } = rules;
  requireOneOf('sandbox.base', base, NAMES);
  const places: Special[] = base === 'read-only' ? [] : ['project_roots', 'tmpdir', 'slash_tmp'];
  const shared = places.map((kind) => entryOf(special(kind), 'write'));
  const list = (paths: readonly (string | URL)[], access: SandboxEntry['access']) =>
    paths.map((path) => entryOf(toPlace(path, cwd, access), access));
  const readable = read === undefined ? [entryOf(special('root'), 'read')] : list(read, 'read');
  const needed = read === undefined ? [] : [entryOf(special('minimal'), 'read')];
  const entries = [...needed, ...readable, ...shared, ...list(write, 'write'), ...list(deny, 'deny')];
  const context = toContext(entries, cwd, network);
  if (typeof network !== 'object') return { sandbox: context };
  return {
    sandbox: context,
    enforceManagedNetwork: true,
    networkProxy: { proxy: { ...CLOSED_PROXY, domains: toDomains(network) } },
  };
}

function toContext(entries: SandboxEntry[], cwd: string, network: SandboxNetwork): SandboxContext {
  if (typeof network !== 'object' || network === null)
    requireOneOf('sandbox.network', network, ['off', 'on']);
  return {
    permissions: {
      type: 'managed',
      file_system: { type: 'restricted', entries },
      network: network === 'on' ? 'enabled' : 'restricted',
    },
    cwd,
    workspaceRoots: [cwd],
    windowsSandboxLevel: 'disabled',
  };
}

const CLOSED_PROXY = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: false,
  allowUpstreamProxy: true,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  allowLocalBinding: false,
} as const;

function toDomains(network: { readonly allow: readonly string[] }): Record<string, 'allow'> {
  checkOptions('`sandbox.network`', network, ['allow']);
  if (!Array.isArray(network.allow)) throw usageError('`sandbox.network.allow` must be a list of domains');
  return Object.fromEntries(network.allow.map((domain) => [domain, 'allow' as const]));
}

function entryOf(path: SandboxEntry['path'], access: SandboxEntry['access']): SandboxEntry {
  return { path, access };
}

function special(kind: Special): SandboxEntry['path'] {
  return { type: 'special', value: { kind } };
}

function toPlace(path: string | URL, cwd: string, access: SandboxEntry['access']): SandboxEntry['path'] {
  if (typeof path === 'string' && path.includes('*')) {
    if (access !== 'deny') throw usageError(`a pattern can only be denied: ${path}`);
    return { type: 'glob_pattern', pattern: path };
  }
  const isRelative = typeof path === 'string' && !path.startsWith('/') && !path.startsWith('file:');
  return { type: 'path', path: toPathUri(isRelative ? toChildUri(cwd, path) : path) };
}
