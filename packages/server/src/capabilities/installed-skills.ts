import { type BytePath, parentOf } from '../fs/watch/byte-path.js';
import type { RootContents } from './discover-root.js';
import { pluginRootOf } from './plugin-manifest.js';
import { directoryName, readManifestNames } from './plugin-name.js';
import { parseFrontmatter } from './skill-frontmatter.js';
import { parseSkillMetadata, type SkillMetadata } from './skill-metadata.js';
import { oneLine } from './yaml-fields.js';

/** Longest name with its namespace, in characters: two names and a colon. */
const MAX_QUALIFIED_LENGTH = 64 * 2 + 1;

export interface Skill extends SkillMetadata {
  /** With the name of its plugin in front. */
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string | undefined;
  readonly path: BytePath;
}

/** The skills of one place. */
export interface SkillsOfRoot {
  readonly skills: readonly Skill[];
  /** Whether everything about them could be read. */
  readonly complete: boolean;
}

/** What the skills of a root say about themselves, and whether all of them could be understood. */
export function describeSkills(contents: RootContents): SkillsOfRoot {
  const namespaces = readNamespaces(contents);
  const skills: Skill[] = [];
  for (const { instructions, metadata } of contents.skills) {
    const { path } = instructions;
    const head = parseFrontmatter(instructions.contents, oneLine(directoryName(parentOf(path))) || 'skill');
    const namespace = findNamespace(path, namespaces);
    const name = head && (namespace === undefined ? head.name : `${namespace}:${head.name}`);
    if (head === undefined || name === undefined || Array.from(name).length > MAX_QUALIFIED_LENGTH) continue;
    skills.push({ ...head, name, path, ...parseSkillMetadata(metadata?.contents ?? '') });
  }
  return { skills, complete: skills.length === contents.skills.length && contents.warnings.length === 0 };
}

function readNamespaces({ namespaceManifests }: RootContents): ReadonlyMap<BytePath, string> {
  const namespaces = new Map<BytePath, string>();
  for (const manifest of namespaceManifests) {
    const root = pluginRootOf(manifest.path);
    const names = readManifestNames(manifest, root);
    if (names !== undefined) namespaces.set(root, names.name);
  }
  return namespaces;
}

/** The name of the nearest plugin around a file. */
function findNamespace(path: BytePath, namespaces: ReadonlyMap<BytePath, string>): string | undefined {
  for (let directory = path; directory !== '/'; ) {
    directory = parentOf(directory);
    const name = namespaces.get(directory);
    if (name !== undefined) return name;
  }
  return undefined;
}
