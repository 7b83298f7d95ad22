import { type BytePath, joinBytePath, parentOf, splitBytePath } from '../fs/watch/byte-path.js';
import { type Bundle, showPath, type TextFile } from './bundle.js';

/** Where a plugin's manifest may be, first choice first. */
const MANIFEST_PATHS = [
  '.codex-plugin/plugin.json',
  '.claude-plugin/plugin.json',
  '.cursor-plugin/plugin.json',
];
const DEFAULT_MCP_CONFIG = '.mcp.json';
const DEFAULT_APPS_CONFIG = '.app.json';

/** A plugin: its manifest and the files that the manifest names. */
export interface PluginFiles {
  readonly manifest: TextFile;
  readonly mcpConfig: TextFile | undefined;
  readonly appsConfig: TextFile | undefined;
}

/** The places of a directory's manifest, first choice first. */
export function manifestPaths(root: BytePath): readonly BytePath[] {
  return MANIFEST_PATHS.map((path) => joinBytePath(root, path));
}

/** Which choice of its directory a manifest is; -1 when the file is no manifest. */
export function manifestRank(path: BytePath): number {
  return manifestPaths(pluginRootOf(path)).indexOf(path);
}

/** The directory of the plugin that a manifest describes. */
export function pluginRootOf(manifest: BytePath): BytePath {
  return parentOf(parentOf(manifest));
}

/** Reads what a manifest refers to. */
export async function readPluginFiles(
  root: BytePath,
  manifest: TextFile,
  bundle: Bundle,
): Promise<PluginFiles> {
  const { mcpServers, apps } = parseDeclarations(manifest.contents);
  const isInline = typeof mcpServers === 'object' && mcpServers !== null && !Array.isArray(mcpServers);
  const mcpPath = declaredPath(root, 'mcpServers', mcpServers, manifest, bundle.warnings);
  const appsPath = declaredPath(root, 'apps', apps, manifest, bundle.warnings);
  const mcpConfig = isInline
    ? undefined
    : await bundle.read(mcpPath ?? joinBytePath(root, DEFAULT_MCP_CONFIG));
  return {
    manifest,
    mcpConfig,
    appsConfig: await bundle.read(appsPath ?? joinBytePath(root, DEFAULT_APPS_CONFIG)),
  };
}

/** A manifest that cannot be parsed declares nothing; whoever uses it finds out by itself. */
function parseDeclarations(contents: string): { readonly mcpServers?: unknown; readonly apps?: unknown } {
  try {
    const value: unknown = JSON.parse(contents);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** The file that a member names, which must be below the root. */
function declaredPath(
  root: BytePath,
  member: string,
  value: unknown,
  manifest: TextFile,
  warnings: string[],
): BytePath | undefined {
  if (typeof value !== 'string') return undefined;
  const ignore = (rule: string) => {
    warnings.push(`ignoring ${member} in ${showPath(manifest.path)}: path must ${rule}`);
    return undefined;
  };
  if (!value.startsWith('./')) return ignore('start with `./`');
  const names = splitBytePath(Buffer.from(value).toString('latin1'));
  if (names.length === 0 || value.split(/[/\\]/).includes('..'))
    return ignore('remain below the capability root');
  return names.reduce(joinBytePath, root);
}
