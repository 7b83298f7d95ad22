import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { baseName, isWithin, parentPath } from '../../fs/native-path.js';
import { mapInTurns, runInTurns } from '../../loop-turn.js';
import { type HiddenPath, listHiddenPaths } from '../hidden-sockets.js';
import type { FilePolicy, PolicyEntry, ResolvedPolicy } from '../policy/policy.js';
import { unenforceable } from '../policy/policy-error.js';
import { RuleTree } from '../policy/rule-tree.js';
import { readGitPointer } from './git-pointer.js';
import type { Location, PathLocator } from './locate-path.js';

/** A rule, where it leads. */
export interface PlacedRule extends PolicyEntry {
  readonly location: Location;
}

/** Every file, those in shared memory included: of `/dev` every sandbox has its own. */
const ALL_FILES = ['/', '/dev/shm'].map(
  (path): PolicyEntry => ({ path: Buffer.from(path), access: 'write' }),
);
const GIT = Buffer.from('.git');

/** Rules whose paths are followed at once. */
const CONCURRENT_RULES = 16;

/** What programs cannot do without: themselves, their libraries and what is set up for all. */
const MINIMAL_PATHS = [
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/usr',
  '/etc',
  '/nix/store',
  '/run/current-system/sw',
  // Where /etc/resolv.conf leads to on many systems.
  '/run/systemd/resolve',
];

/**
 * The rules of a policy by where they lead now, so that no link can lead around one, and those that come with them.
 * Throws `PolicyError` for a rule that others can turn elsewhere.
 * @param denied what exists of the paths that patterns deny
 */
export async function placePolicy(
  files: FilePolicy,
  denied: readonly Buffer[],
  network: ResolvedPolicy['network'],
  locator: PathLocator,
): Promise<RuleTree<PlacedRule>> {
  const entries = [
    ...files.rules.rules,
    ...denied.map((path): PolicyEntry => ({ path, access: 'deny' })),
    ...listMinimal(files),
  ];
  const rules = await protectRepositories(await placeRules(entries, locator), locator);
  await refuseWritableLinks(rules);
  return hideServices(rules, network, locator);
}

/** The same of a policy that allows everything. */
export async function placeOpenPolicy(
  files: ResolvedPolicy['files'],
  network: ResolvedPolicy['network'],
  locator: PathLocator,
): Promise<RuleTree<PlacedRule>> {
  const entries = files === 'unrestricted' ? [] : files.rules.rules;
  return hideServices(await placeRules([...entries, ...ALL_FILES], locator), network, locator);
}

/** Whether this user can change what is in a directory, and rules allow it. */
export async function isChangeable(rules: RuleTree, directory: Buffer): Promise<boolean> {
  if (rules.accessTo(directory) !== 'write') return false;
  try {
    await access(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function listMinimal({ minimal, rules }: FilePolicy): PolicyEntry[] {
  if (!minimal) return [];
  return MINIMAL_PATHS.map((path) => Buffer.from(path))
    .filter((path) => rules.accessTo(path) === 'deny' && rules.get(path) === undefined)
    .map((path) => ({ path, access: 'read' }));
}

async function placeRules(
  entries: readonly PolicyEntry[],
  locator: PathLocator,
): Promise<RuleTree<PlacedRule>> {
  const placed = await mapInTurns(entries, CONCURRENT_RULES, async (entry): Promise<PlacedRule> => {
    const location = await locator.locate(entry.path);
    return { ...entry, path: location.path, location };
  });
  return runInTurns(RuleTree.build(placed));
}

/** A protected `.git` that only says where the repository is protects that, too, where it could be written. */
async function protectRepositories(
  rules: RuleTree<PlacedRule>,
  locator: PathLocator,
): Promise<RuleTree<PlacedRule>> {
  const pointers = rules.rules.filter(
    ({ path, access: allowed, location }) =>
      allowed === 'read' && location.kind === 'file' && baseName(path).equals(GIT),
  );
  const found = await mapInTurns(pointers, CONCURRENT_RULES, async ({ path }) =>
    Promise.all((await readGitPointer(path)).map((repository) => locator.locate(repository))),
  );
  const added = found
    .flat()
    .filter(
      ({ path, kind }) =>
        kind === 'directory' && rules.accessTo(path) === 'write' && rules.get(path) === undefined,
    )
    .map((location): PlacedRule => ({ path: location.path, access: 'read', location }));
  return added.length === 0 ? rules : runInTurns(RuleTree.build([...rules.rules, ...added]));
}

/** Denies what runs programs for others, as far as it exists, rules show it, and none of them is for that very path. */
async function hideServices(
  rules: RuleTree<PlacedRule>,
  network: ResolvedPolicy['network'],
  locator: PathLocator,
): Promise<RuleTree<PlacedRule>> {
  const places = await mapInTurns(listHiddenPaths(network), CONCURRENT_RULES, (service) =>
    locateService(service, locator),
  );
  const hidden: PlacedRule[] = [];
  for (const { path, kind } of places.flat()) {
    const rule = rules.find(path);
    const isShown = rule !== undefined && rule.access !== 'deny';
    const isHidden = hidden.some(
      (other) => isWithin(path, other.path) && other.path.length > (rule?.path.length ?? 0),
    );
    if (!isShown || isHidden || rule.path.equals(path)) continue;
    // Nobody has to find it by the way that led there.
    hidden.push({ path, access: 'deny', location: { path, kind, links: [] } });
  }
  return hidden.length === 0 ? rules : runInTurns(RuleTree.build([...rules.rules, ...hidden]));
}

/** Where each service was when it was looked for first. */
const firstPlaces = new Map<string, Buffer>();

/**
 * Where a service is. A program that may change a link on the way to it must not uncover it for the next program, so that
 * the place where it was counts as well.
 */
async function locateService(service: HiddenPath, locator: PathLocator): Promise<Location[]> {
  const wanted = service.kind === 'socket' ? 'file' : service.kind;
  const here = await locator.locate(Buffer.from(service.path));
  const firstPlace = firstPlaces.get(service.path);
  if (firstPlace === undefined && here.kind === wanted) firstPlaces.set(service.path, here.path);
  const places = firstPlace === undefined ? [here] : [here, await locator.locate(firstPlace)];
  return places.filter(({ kind }) => kind === wanted);
}

/**
 * A link in a writable directory says today what a program made of it yesterday. A rule that leads through one would
 * open or close whatever the program likes.
 */
async function refuseWritableLinks(rules: RuleTree<PlacedRule>): Promise<void> {
  const changeable = new Map<string, boolean>();
  for (const { location } of rules.rules) {
    for (const { path } of location.links) {
      const directory = parentPath(path);
      const key = directory.toString('latin1');
      if (!changeable.has(key)) changeable.set(key, await isChangeable(rules, directory));
      if (changeable.get(key) !== true) continue;
      throw unenforceable(
        `the rule for ${location.path.toString()} leads through a link in a writable directory, ${path.toString()}`,
      );
    }
  }
}
