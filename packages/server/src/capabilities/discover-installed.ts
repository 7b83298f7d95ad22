import { join } from 'node:path';
import { type BytePath, toBytePath } from '../fs/watch/byte-path.js';
import { discoverRoot, type RootContents, RootError } from './discover-root.js';
import { CONCURRENT_ROOTS, mapInOrder } from './in-order.js';
import type { Skill, SkillsOfRoot } from './installed-skills.js';
import { type InstalledPlugin, listInstalledPlugins } from './plugin-cache.js';
import type { PluginFiles } from './plugin-manifest.js';
import { readManifestNames } from './plugin-name.js';

const LOCATIONS_INCOMPLETE = 'some capability locations could not be resolved; discovery may be incomplete';
const METADATA_INCOMPLETE = 'some capability metadata could not be loaded; discovery may be incomplete';

/** The places of this machine that capabilities are installed at. */
export interface InstalledPlaces {
  readonly codexHome: string;
  readonly userHome: string;
  readonly systemDir: string;
}

/** A place where skills are kept, by the name that clients know it by. */
export interface DiscoveryRoot {
  readonly id: 'codex-home-skills' | 'user-agent-skills' | 'system-skills';
  readonly path: BytePath;
}

export interface DiscoveredPlugin extends InstalledPlugin {
  readonly displayName: string;
  readonly files: PluginFiles;
  readonly skills: readonly Skill[];
}

export interface Installed {
  /** In order of their ids. */
  readonly plugins: readonly DiscoveredPlugin[];
  /** Those that belong to no plugin, place by place. */
  readonly skills: readonly (Skill & { readonly discoveryRoot: DiscoveryRoot })[];
  readonly warnings: readonly string[];
}

/** What one place brings, and whether all of it could be read. */
type Found<T> = { readonly found: T | undefined; readonly complete: boolean };

/** Reads everything that is installed for the user of this server, until `signal` ends it. */
export async function discoverInstalled(places: InstalledPlaces, signal: AbortSignal): Promise<Installed> {
  const { plugins, complete } = await listInstalledPlugins(join(places.codexHome, 'plugins/cache'));
  const foundPlugins = await mapInOrder(plugins, CONCURRENT_ROOTS, (plugin) =>
    discoverPlugin(plugin, signal),
  );
  const foundSkills = await mapInOrder(skillRoots(places), CONCURRENT_ROOTS, (root) =>
    discoverSkills(root, signal),
  );
  const incomplete = [...foundPlugins, ...foundSkills].filter((place) => !place.complete);
  return {
    plugins: foundPlugins.flatMap(({ found }) => found ?? []),
    skills: foundSkills.flatMap(({ found }) => found ?? []),
    warnings: [...(complete ? [] : [LOCATIONS_INCOMPLETE]), ...incomplete.map(() => METADATA_INCOMPLETE)],
  };
}

function skillRoots({ codexHome, userHome, systemDir }: InstalledPlaces): DiscoveryRoot[] {
  const root = (id: DiscoveryRoot['id'], path: string) => ({ id, path: toBytePath(Buffer.from(path)) });
  return [
    root('codex-home-skills', join(codexHome, 'skills')),
    root('user-agent-skills', join(userHome, '.agents/skills')),
    root('system-skills', join(systemDir, 'skills')),
  ];
}

async function discoverPlugin(
  plugin: InstalledPlugin,
  signal: AbortSignal,
): Promise<Found<DiscoveredPlugin>> {
  const root = toBytePath(Buffer.from(plugin.root));
  const contents = await readRoot(root, signal);
  const names = contents?.plugin && readManifestNames(contents.plugin.manifest, root);
  if (contents?.plugin === undefined || names === undefined) return { found: undefined, complete: false };
  const { skills, complete } = await describeSkills(contents);
  const { displayName } = names;
  return { found: { ...plugin, displayName, files: contents.plugin, skills }, complete };
}

async function discoverSkills(root: DiscoveryRoot, signal: AbortSignal): Promise<Found<Installed['skills']>> {
  const contents = await readRoot(root.path, signal);
  // Hardly anybody has all of the places.
  if (contents === undefined) return { found: undefined, complete: true };
  const { skills, complete } = await describeSkills(contents);
  return { found: skills.map((skill) => ({ ...skill, discoveryRoot: root })), complete };
}

/** Loads what reads YAML with the first skill: it is more code than all the rest of discovery. */
async function describeSkills(contents: RootContents): Promise<SkillsOfRoot> {
  const skills = await import('./installed-skills.js');
  return skills.describeSkills(contents);
}

async function readRoot(root: BytePath, signal: AbortSignal): Promise<RootContents | undefined> {
  try {
    return await discoverRoot(root, signal);
  } catch (error) {
    if (error instanceof RootError) return undefined;
    throw error;
  }
}
