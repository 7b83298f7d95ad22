import { ConfigError } from './config-error.js';
import {
  describeValue,
  emptyTable,
  isTable,
  memberOf,
  type TomlTable,
  type TomlValue,
} from './toml-table.js';

const APPROVAL_POLICIES = ['untrusted', 'on-failure', 'on-request', 'granular', 'never'];
const APPROVAL_REVIEWERS = ['user', 'auto_review', 'guardian_subagent'];
const SANDBOX_MODES = ['read-only', 'workspace-write', 'danger-full-access'];

/** Members of a granular approval policy; those that are absent are false. */
const GRANULAR_MEMBERS = [
  'sandbox_approval',
  'rules',
  'skill_approval',
  'request_permissions',
  'mcp_elicitations',
];

/**
 * What a `managed_config.toml` demands, in the form of requirements: each value becomes the only one allowed, except
 * that reading stays allowed, and so does the user's own review beside an automatic one. Throws {@link ConfigError}.
 */
export function requirementsFromManaged(config: TomlTable): TomlTable {
  const requirements = emptyTable();
  const policy = memberOf(config, 'approval_policy');
  if (policy !== undefined) requirements.allowed_approval_policies = [readPolicy(policy)];
  const reviewer = readName(config, 'approvals_reviewer', APPROVAL_REVIEWERS);
  if (reviewer !== undefined)
    requirements.allowed_approvals_reviewers = reviewer === 'user' ? [reviewer] : ['auto_review', 'user'];
  const mode = readName(config, 'sandbox_mode', SANDBOX_MODES);
  if (mode !== undefined)
    requirements.allowed_sandbox_modes = mode === 'read-only' ? [mode] : ['read-only', mode];
  return requirements;
}

function readPolicy(policy: TomlValue): TomlValue {
  if (!isTable(policy)) return checkName(policy, 'approval_policy', APPROVAL_POLICIES);
  const granular = memberOf(policy, 'granular');
  if (!isTable(granular))
    throw unknownVariant(Object.keys(policy)[0] ?? '', 'approval_policy', APPROVAL_POLICIES);
  const members = GRANULAR_MEMBERS.map((name) => [name, memberOf(granular, name) ?? false] as const);
  return { granular: Object.fromEntries(members) };
}

function readName(config: TomlTable, key: string, names: readonly string[]): string | undefined {
  const value = memberOf(config, key);
  return value === undefined ? undefined : checkName(value, key, names);
}

function checkName(value: TomlValue, key: string, names: readonly string[]): string {
  if (typeof value === 'string' && names.includes(value)) return value;
  throw unknownVariant(describeValue(value), key, names);
}

function unknownVariant(value: string, key: string, names: readonly string[]): ConfigError {
  const expected = names.map((name) => `\`${name}\``).join(', ');
  return new ConfigError(
    `Failed to parse config requirements as TOML: unknown variant \`${value}\`, expected one of ${expected}\n` +
      `in \`${key}\`\n`,
  );
}
