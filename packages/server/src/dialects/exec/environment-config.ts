import { hostname } from 'node:os';
import {
  type EnvironmentConfigReadParams,
  type EnvironmentConfigReadResult,
  ForeignPathError,
  internalError,
  invalidParams,
  nativePathText,
  nativeToPathUri,
  pathUriToNative,
} from '@exec-server/protocol';
import { CodexHomeError, findCodexHome, findUserHome } from '../../environment/codex-home.js';
import { ConfigError } from '../../environment/config/config-error.js';
import { formatToml } from '../../environment/config/format-toml.js';
import type { ConfigStack } from '../../environment/config/layer.js';
import { readConfig, SYSTEM_CONFIG_DIR } from '../../environment/config/read-config.js';
import type { HandlerContext } from '../dialect.js';

export async function readEnvironmentConfig(
  params: EnvironmentConfigReadParams,
  { engine }: HandlerContext,
): Promise<EnvironmentConfigReadResult> {
  const { configPaths, requirementsPaths } = params;
  const paths = [...configPaths, ...requirementsPaths];
  if (paths.length === 0) throw invalidParams('at least one config or requirements path is required');
  if (paths.some((path) => path.length === 0))
    throw invalidParams('TOML paths must contain at least one key segment');
  const cwd = nativeDirectory(params.cwd);
  try {
    const codexHome = await findCodexHome(engine.serverEnv);
    const places = { codexHome, cwd, systemDir: SYSTEM_CONFIG_DIR };
    const selected = await readConfig(places, { config: configPaths, requirements: requirementsPaths });
    return {
      userHomeDir: nativeToPathUri(findUserHome(engine.serverEnv)),
      codexHomeDir: nativeToPathUri(codexHome),
      hostname: hostname(),
      config: encodeStack(selected.config),
      requirements: encodeStack(selected.requirements),
    };
  } catch (error) {
    if (error instanceof CodexHomeError) throw internalError(`failed to find Codex home: ${error.message}`);
    if (error instanceof ConfigError)
      throw internalError(`failed to load executor-local config: ${error.message}`);
    throw error;
  }
}

function nativeDirectory(uri: string): string {
  try {
    return nativePathText(pathUriToNative(uri));
  } catch (error) {
    throw error instanceof ForeignPathError ? invalidParams(error.message, 'foreign_path') : error;
  }
}

function encodeStack({ layers, cloudInsertionIndex }: ConfigStack): EnvironmentConfigReadResult['config'] {
  return {
    layers: layers.map(({ source, baseDir, table }) => ({
      source,
      baseDir: nativeToPathUri(baseDir),
      toml: formatToml(table),
    })),
    cloudInsertionIndex,
  };
}
