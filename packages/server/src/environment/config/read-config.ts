import { join } from 'node:path';
import type { ConfigLayer, ConfigStack } from './layer.js';
import { requirementsFromManaged } from './legacy-requirements.js';
import { loadProjectLayers } from './project-layers.js';
import { selectKeys, selectsAnything } from './select-keys.js';
import { readTomlFile, type TomlFileWords } from './toml-file.js';
import { emptyTable, mergeTables, type TomlTable } from './toml-table.js';

/** Where an administrator keeps configuration for all users. */
export const SYSTEM_CONFIG_DIR = '/etc/codex';

export interface ConfigPlaces {
  readonly codexHome: string;
  /** Directory whose projects count. */
  readonly cwd: string;
  readonly systemDir: string;
}

export type KeyPaths = readonly (readonly string[])[];

export interface SelectedConfig {
  readonly config: ConfigStack;
  readonly requirements: ConfigStack;
}

const CONFIG_WORDS: TomlFileWords = {
  noun: 'config file',
  parseFailure: (path, { line, column, text }) => `${path}:${line}:${column}: ${text}`,
};
const REQUIREMENTS_WORDS: TomlFileWords = {
  noun: 'requirements file',
  parseFailure: (path, { line, column, text }) =>
    `failed to parse requirements layer ${path}: TOML parse error at line ${line}, column ${column}\n${text}\n`,
};

/**
 * The parts of this machine's configuration and requirements that the paths name. Everything is read, also what is not
 * selected: a file that cannot be read may be the one that restricts. Throws `ConfigError`.
 */
export async function readConfig(
  places: ConfigPlaces,
  paths: { readonly config: KeyPaths; readonly requirements: KeyPaths },
): Promise<SelectedConfig> {
  const { codexHome, cwd, systemDir } = places;
  const systemFile = join(systemDir, 'config.toml');
  const userFile = join(codexHome, 'config.toml');
  const managedFile = join(systemDir, 'managed_config.toml');
  const requirementsFile = join(systemDir, 'requirements.toml');
  const [system, user, managed, required] = await Promise.all([
    readLayer(systemFile, `system (${systemFile})`, systemDir, CONFIG_WORDS),
    readLayer(userFile, `user (${userFile})`, codexHome, CONFIG_WORDS),
    readLayer(managedFile, `legacy managed_config.toml (${managedFile})`, systemDir, CONFIG_WORDS),
    readLayer(requirementsFile, requirementsFile, systemDir, REQUIREMENTS_WORDS),
  ]);
  const legacy = managed && {
    ...managed,
    source: managedFile,
    table: requirementsFromManaged(managed.table),
  };
  const projects = await loadProjectLayers(mergeLayers([system, user, managed]), cwd, codexHome);
  return {
    config: select([system], [user, ...projects, managed], paths.config),
    requirements: select([required], [legacy], paths.requirements),
  };
}

async function readLayer(
  path: string,
  source: string,
  baseDir: string,
  words: TomlFileWords,
): Promise<ConfigLayer | undefined> {
  const table = await readTomlFile(path, words);
  return table && { source, baseDir, table };
}

function mergeLayers(layers: readonly (ConfigLayer | undefined)[]): TomlTable {
  return layers.reduce((merged, layer) => (layer ? mergeTables(merged, layer.table) : merged), emptyTable());
}

/** Layers from elsewhere go between those `below` and those `above`. */
function select(
  below: readonly (ConfigLayer | undefined)[],
  above: readonly (ConfigLayer | undefined)[],
  paths: KeyPaths,
): ConfigStack {
  const keep = (layers: readonly (ConfigLayer | undefined)[]) =>
    layers
      .filter((layer): layer is ConfigLayer => layer !== undefined && selectsAnything(layer.table, paths))
      .map((layer) => ({ ...layer, table: selectKeys(layer.table, paths) }));
  const low = keep(below);
  return { layers: [...low, ...keep(above)], cloudInsertionIndex: low.length };
}
