import { stat } from 'node:fs/promises';
import { pathUriToNative } from '@exec-server/protocol';
import { callSystem, FileError } from '../fs/file-error.js';
import { type WalkOptions, walkTree } from '../fs/walk.js';
import { type BytePath, joinBytePath, parentOf, toBytePath, toPathBytes } from '../fs/watch/byte-path.js';
import { OsError } from '../os-error.js';
import { Bundle, showPath, type TextFile } from './bundle.js';
import { compareText } from './compare-text.js';
import {
  manifestPaths,
  manifestRank,
  type PluginFiles,
  pluginRootOf,
  readPluginFiles,
} from './plugin-manifest.js';

/** Bounds of one root, so that a link to `/` stays affordable. */
export const SCAN_LIMITS: Pick<WalkOptions, 'maxDepth' | 'maxDirectories' | 'maxEntries'> = {
  maxDepth: 6,
  maxDirectories: 2_000,
  maxEntries: 20_000,
};

const SKILL_FILE = 'SKILL.md';
const SKILL_METADATA = 'agents/openai.yaml';

export interface SkillFiles {
  readonly instructions: TextFile;
  readonly metadata: TextFile | undefined;
}

/** What a directory holds for an agent. */
export interface RootContents {
  /** The plugin that the root is. */
  readonly plugin: PluginFiles | undefined;
  /** In order of their paths. */
  readonly skills: readonly SkillFiles[];
  /** One manifest per plugin that skills take their namespace from, the root's own or an ancestor's first. */
  readonly namespaceManifests: readonly TextFile[];
  /** What could not be read. */
  readonly warnings: readonly string[];
}

/** A root that nothing can be read from. The message is meant for clients. */
export class RootError extends Error {
  override readonly name = 'RootError';
}

/** Reads the manifests and skills of one directory, until `signal` ends it. Throws {@link RootError}. */
export async function discoverRoot(
  root: BytePath,
  signal: AbortSignal,
  limits: typeof SCAN_LIMITS = SCAN_LIMITS,
): Promise<RootContents> {
  await checkDirectory(root);
  const walk = await scan(root, { ...limits, signal });
  const files = walk.entries
    .filter(({ kind }) => kind === 'file')
    .map(({ uri }) => toBytePath(pathUriToNative(uri)));
  const bundle = new Bundle();
  const uri = showPath(root);
  for (const failure of walk.failures)
    bundle.warnings.push(`failed to scan capability path ${failure.uri}: ${failure.message}`);
  if (walk.truncated) bundle.warnings.push(`capability scan reached its traversal limit (root: ${uri})`);

  const own = await bundle.readFirst(manifestPaths(root));
  const inherited = own ?? (await readNearestAbove(root, bundle));
  const namespaceManifests = await readNamespaces(files, inherited, bundle);
  const plugin = own && (await readPluginFiles(root, own, bundle));
  const skills = await readSkills(files, bundle);
  return { plugin, skills, namespaceManifests, warnings: bundle.warnings };
}

async function checkDirectory(root: BytePath): Promise<void> {
  const uri = showPath(root);
  const stats = await callSystem(stat(toPathBytes(root))).catch((error: unknown) => {
    throw rootError(`failed to inspect capability root ${uri}`, error);
  });
  if (!stats.isDirectory()) throw new RootError(`capability root ${uri} is not a directory`);
}

async function scan(root: BytePath, options: Pick<WalkOptions, keyof typeof SCAN_LIMITS | 'signal'>) {
  const directory = { path: toPathBytes(root), uri: showPath(root) };
  try {
    return await walkTree(directory, {
      ...options,
      followDirectorySymlinks: true,
      pruneHiddenDirectories: false,
    });
  } catch (error) {
    throw rootError(`failed to scan capability root ${directory.uri}`, error);
  }
}

function rootError(what: string, error: unknown): unknown {
  const isExplained = error instanceof OsError || error instanceof FileError;
  return isExplained ? new RootError(`${what}: ${error.message}`, { cause: error }) : error;
}

async function readNearestAbove(root: BytePath, bundle: Bundle): Promise<TextFile | undefined> {
  for (let directory = root; directory !== '/'; ) {
    directory = parentOf(directory);
    const manifest = await bundle.readFirst(manifestPaths(directory));
    if (manifest !== undefined) return manifest;
  }
  return undefined;
}

async function readNamespaces(
  files: readonly BytePath[],
  inherited: TextFile | undefined,
  bundle: Bundle,
): Promise<TextFile[]> {
  const manifests = inherited === undefined ? [] : [inherited];
  const roots = new Set(manifests.map(({ path }) => pluginRootOf(path)));
  const found = files
    .map((path) => ({ path, rank: manifestRank(path), uri: showPath(pluginRootOf(path)) }))
    .filter(({ rank }) => rank >= 0)
    .sort((left, right) => compareText(left.uri, right.uri) || left.rank - right.rank);
  for (const { path } of found) {
    const root = pluginRootOf(path);
    if (roots.has(root)) continue;
    roots.add(root);
    const manifest = await bundle.read(path);
    if (manifest !== undefined) manifests.push(manifest);
  }
  return manifests;
}

async function readSkills(files: readonly BytePath[], bundle: Bundle): Promise<SkillFiles[]> {
  const skills: SkillFiles[] = [];
  const paths = files
    .filter((path) => path.endsWith(`/${SKILL_FILE}`))
    .map((path) => ({ path, uri: showPath(path) }))
    .sort((left, right) => compareText(left.uri, right.uri));
  for (const { path } of paths) {
    const instructions = await bundle.read(path);
    if (instructions === undefined) continue;
    const metadata = await bundle.read(joinBytePath(parentOf(path), SKILL_METADATA));
    skills.push({ instructions, metadata });
  }
  return skills;
}
