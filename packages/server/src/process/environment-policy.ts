import type { EnvPolicy } from '@exec-server/protocol';
import { isOwnVariable } from '../environment/server-credentials.js';
import { matchesWildcard } from './wildcard.js';

/** Names that `inherit: "core"` keeps, compared without case. */
const CORE_NAMES: ReadonlySet<string> = new Set(
  'PATH SHELL TMPDIR TEMP TMP HOME LANG LC_ALL LC_CTYPE LOGNAME USER'.split(' '),
);

/** Names that look like secrets; dropped unless the policy says otherwise. */
const DEFAULT_EXCLUDES = ['*KEY*', '*SECRET*', '*TOKEN*'];

/** Credentials and switches of executors, never handed to a child, even if the client sets them. */
const LAUNCH_SECRETS: ReadonlySet<string> = new Set([
  'CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE',
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'NODE_REPL_AUTH_TOKEN',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
]);

/** What a request says about its child's environment. */
export interface EnvironmentRequest {
  /** Laid over the policy's result, `null` removing a variable; the whole environment where there is no policy. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly policy?: EnvPolicy | null | undefined;
  /** Variables of the request's metadata, on top of everything. */
  readonly extra: ReadonlyMap<string, string>;
}

/** Computes the child's exact environment from the server's own and the request. */
export function resolveEnvironment(
  serverEnv: Readonly<Record<string, string | undefined>>,
  request: EnvironmentRequest,
): Map<string, string> {
  const env = request.policy ? applyPolicy(serverEnv, request.policy) : new Map<string, string>();
  for (const [name, value] of Object.entries(request.env)) {
    if (value === null) env.delete(name);
    else env.set(name, value);
  }
  for (const [name, value] of request.extra) env.set(name, value);
  for (const name of env.keys()) if (LAUNCH_SECRETS.has(name.toUpperCase())) env.delete(name);
  return env;
}

function applyPolicy(
  serverEnv: Readonly<Record<string, string | undefined>>,
  policy: EnvPolicy,
): Map<string, string> {
  const env = new Map<string, string>();
  const drop = excludesOf(policy);
  for (const [name, value] of Object.entries(serverEnv)) {
    if (value === undefined || !inherits(policy.inherit, name)) continue;
    if (!matchesAny(name, drop)) env.set(name, value);
  }
  for (const [name, value] of Object.entries(policy.set)) env.set(name, value);
  if (policy.includeOnly.length > 0) {
    for (const name of env.keys()) if (!matchesAny(name, policy.includeOnly)) env.delete(name);
  }
  return env;
}

/** Whether a variable that a login brings along may reach a child: the policy's filters count, whoever set it. */
export function isChildVariable(name: string, policy: EnvPolicy | undefined): boolean {
  if (LAUNCH_SECRETS.has(name.toUpperCase())) return false;
  if (policy === undefined) return true;
  if (matchesAny(name, excludesOf(policy))) return false;
  return policy.includeOnly.length === 0 || matchesAny(name, policy.includeOnly);
}

function excludesOf({ ignoreDefaultExcludes, exclude }: EnvPolicy): readonly string[] {
  return ignoreDefaultExcludes ? exclude : [...DEFAULT_EXCLUDES, ...exclude];
}

function inherits(inherit: EnvPolicy['inherit'], name: string): boolean {
  // The server's values are not for children.
  if (isOwnVariable(name)) return false;
  return inherit === 'all' || (inherit === 'core' && CORE_NAMES.has(name.toUpperCase()));
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesWildcard(name, pattern));
}
