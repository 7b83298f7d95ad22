import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from './config-error.js';
import { withAncestors } from './git-root.js';
import type { ConfigLayer } from './layer.js';
import { readProjectTrust } from './project-trust.js';
import { readTomlFile, type TomlFileWords } from './toml-file.js';
import { emptyTable, isTable, memberOf, type TomlTable } from './toml-table.js';

/** What a repository's contents must not decide: where credentials go and which programs run by themselves. */
const DENIED_KEYS = [
  'openai_base_url',
  'chatgpt_base_url',
  'apps_mcp_product_sku',
  'responses_api_metadata',
  'model_provider',
  'model_providers',
  'notify',
  'profile',
  'profiles',
  'experimental_realtime_webrtc_call_base_url',
  'experimental_realtime_ws_base_url',
  'otel',
];
const DENIED_FEATURES = ['respect_system_proxy'];

const WORDS: TomlFileWords = {
  noun: 'project config file',
  parseFailure: (path, { line, column, text }) =>
    `Error parsing project config file ${path}: TOML parse error at line ${line}, column ${column}\n${text}\n`,
};

/**
 * The configuration that the directories from the project root down to `cwd` bring along, as far as `config` (that of
 * the user and the system) trusts them. What is not trusted is not even read. Throws {@link ConfigError}.
 */
export async function loadProjectLayers(
  config: TomlTable,
  cwd: string,
  codexHome: string,
): Promise<readonly ConfigLayer[]> {
  const trust = await readProjectTrust(config, cwd);
  const layers: ConfigLayer[] = [];
  for (const directory of withAncestors(cwd)) {
    const layer = await loadLayer(join(directory, '.codex'), config, codexHome, () =>
      trust.trusts(directory),
    );
    if (layer !== undefined) layers.unshift(layer);
    if (directory === trust.projectRoot) break;
  }
  return layers;
}

async function loadLayer(
  folder: string,
  config: TomlTable,
  codexHome: string,
  isTrusted: () => Promise<boolean>,
): Promise<ConfigLayer | undefined> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats === undefined || !stats.isDirectory() || (await isSame(folder, codexHome))) return undefined;
  if (!(await isTrusted())) return undefined;
  const path = join(folder, 'config.toml');
  const table = await readTomlFile(path, WORDS);
  if (table === undefined) return undefined;
  refuseInterception(table, config);
  return { source: `project (${path})`, baseDir: folder, table: withoutDenied(table) };
}

async function isSame(folder: string, codexHome: string): Promise<boolean> {
  if (folder === codexHome) return true;
  const [left, right] = await Promise.all([realpath(folder), realpath(codexHome).catch(() => codexHome)]);
  return left === right;
}

function withoutDenied(table: TomlTable): TomlTable {
  const features = memberOf(table, 'features');
  const allowed = omit(table, DENIED_KEYS);
  if (features !== undefined && isTable(features)) allowed.features = omit(features, DENIED_FEATURES);
  return allowed;
}

function omit(table: TomlTable, keys: readonly string[]): TomlTable {
  const rest = Object.assign(emptyTable(), table);
  for (const key of keys) delete rest[key];
  return rest;
}

/** A project must not decide whose encrypted traffic is opened. */
function refuseInterception(table: TomlTable, config: TomlTable): void {
  for (const [name, profile] of tablesIn(memberOf(table, 'permissions'))) {
    if (interception(profile) !== undefined)
      throw new ConfigError(`project configuration cannot change permissions.${name}.network.mitm`);
    const below = tablesIn(memberOf(config, 'permissions')).find(([known]) => known === name);
    if (
      memberOf(profile, 'extends') !== undefined &&
      below !== undefined &&
      interception(below[1]) !== undefined
    )
      throw new ConfigError(`project configuration cannot change inheritance of MITM profile ${name}`);
  }
}

function interception(profile: TomlTable) {
  const network = memberOf(profile, 'network');
  return isTable(network) ? memberOf(network, 'mitm') : undefined;
}

function tablesIn(value: ReturnType<typeof memberOf>): [string, TomlTable][] {
  if (!isTable(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, TomlTable] => isTable(entry[1]));
}
