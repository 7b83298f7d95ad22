import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from './config-error.js';
import { findMainCheckout, isGitEntry, withAncestors } from './git-root.js';
import { describeValue, isTable, memberOf, type TomlTable, type TomlValue } from './toml-table.js';

const DEFAULT_ROOT_MARKERS = ['.git'];
const TRUST_LEVELS = ['trusted', 'untrusted'];

/** Which directories' own configuration counts. */
export interface ProjectTrust {
  /** Topmost directory whose configuration is looked at. */
  readonly projectRoot: string;
  trusts(directory: string): Promise<boolean>;
}

/**
 * Reads what the configuration of the user and the system says about projects. A directory is trusted by an entry of
 * its own, else by that of the project root, else by that of its repository's main checkout. Throws {@link ConfigError}.
 */
export async function readProjectTrust(config: TomlTable, cwd: string): Promise<ProjectTrust> {
  const levels = readLevels(memberOf(config, 'projects'));
  const projectRoot = await findProjectRoot(cwd, readMarkers(memberOf(config, 'project_root_markers')));
  const mainCheckout = await findMainCheckout(cwd);
  return {
    projectRoot,
    async trusts(directory) {
      for (const place of [directory, projectRoot, mainCheckout]) {
        if (place === undefined) continue;
        const level = levels.get(await canonical(place)) ?? levels.get(place);
        if (level !== undefined) return level === 'trusted';
      }
      return false;
    },
  };
}

function readLevels(projects: TomlValue | undefined): ReadonlyMap<string, string> {
  const levels = new Map<string, string>();
  if (projects === undefined) return levels;
  if (!isTable(projects)) throw wrongType(projects, 'a map', 'projects');
  for (const [path, project] of Object.entries(projects)) {
    if (!isTable(project)) throw wrongType(project, 'struct ProjectConfig', `projects.${path}`);
    const level = memberOf(project, 'trust_level');
    if (level === undefined) continue;
    if (typeof level !== 'string' || !TRUST_LEVELS.includes(level))
      throw new ConfigError(
        `unknown variant \`${describeValue(level)}\`, expected \`trusted\` or \`untrusted\`\n` +
          `in \`projects.${path}.trust_level\`\n`,
      );
    levels.set(path, level);
  }
  return levels;
}

function readMarkers(markers: TomlValue | undefined): readonly string[] {
  if (markers === undefined) return DEFAULT_ROOT_MARKERS;
  if (Array.isArray(markers) && markers.every((marker) => typeof marker === 'string')) return markers;
  throw new ConfigError('project_root_markers must be an array of strings');
}

/** The nearest directory with one of the markers, or `cwd` itself. */
async function findProjectRoot(cwd: string, markers: readonly string[]): Promise<string> {
  if (markers.length === 0) return cwd;
  for (const ancestor of withAncestors(cwd)) {
    for (const marker of markers) if (await hasMarker(ancestor, marker)) return ancestor;
  }
  return cwd;
}

async function hasMarker(directory: string, marker: string): Promise<boolean> {
  const path = join(directory, marker);
  // An empty `.git` is something else than a repository.
  if (marker === '.git') return isGitEntry(path);
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function canonical(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function wrongType(value: TomlValue, expected: string, where: string): ConfigError {
  const kind = typeof value === 'string' ? `string ${JSON.stringify(value)}` : describeValue(value);
  return new ConfigError(`invalid type: ${kind}, expected ${expected}\nin \`${where}\`\n`);
}
