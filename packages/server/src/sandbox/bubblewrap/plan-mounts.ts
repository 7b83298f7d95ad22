import { accessSync, constants, existsSync } from 'node:fs';
import { baseName, isWithin, parentPath } from '../../fs/native-path.js';
import { listHiddenPaths, type NetworkUse } from '../hidden-sockets.js';
import { accessTo, findRule, orderEntries } from '../policy/access.js';
import { findDeniedPaths } from '../policy/find-denied-paths.js';
import type { FilePolicy, PolicyEntry, ResolvedPolicy } from '../policy/policy.js';
import { unenforceable } from '../policy/policy-error.js';
import { readGitPointer } from './git-pointer.js';
import { type CrossedLink, type Location, locatePath } from './locate-path.js';
import { isMountTarget, type TargetKind } from './mount-targets.js';

/** One thing that the view of a sandboxed program is made of. Paths lead through no link. */
export type Mount =
  | { readonly kind: 'bind'; readonly path: Buffer; readonly writable: boolean }
  /** Nothing can be seen of the directory. A passable one can still be gone through, to what is mounted below. */
  | { readonly kind: 'hide-directory'; readonly path: Buffer; readonly passable: boolean }
  | { readonly kind: 'hide-file'; readonly path: Buffer }
  /** A link where the view has nothing else, so that paths which lead through it go on to work. */
  | { readonly kind: 'link'; readonly path: Buffer; readonly target: Buffer };

export interface MountPlan {
  /** What the whole is: the host's root, or an empty one. An open one is the host's with all devices. */
  readonly root: 'read' | 'write' | 'open' | 'empty';
  /** In the order in which they are made. */
  readonly mounts: readonly Mount[];
  /** What has to be put in place first, because mounts are made on it and nothing is there. */
  readonly targets: readonly { readonly path: Buffer; readonly kind: TargetKind }[];
}

const ROOT = Buffer.from('/');
const GIT = Buffer.from('.git');

/** Made anew for every sandbox, whatever the rules say. */
const OWN_FILE_SYSTEMS = [Buffer.from('/proc')];
/** The same, but rules may put something of the host there. */
const OWN_DIRECTORIES = [Buffer.from('/dev'), Buffer.from('/sys')];

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

/** A rule, where it leads. */
interface PlacedRule extends PolicyEntry {
  readonly location: Location;
}

/**
 * Decides what a program sees under a policy, from what exists now. Throws `PolicyError` for what mounts cannot
 * keep.
 */
export async function planMounts(
  files: ResolvedPolicy['files'],
  network: NetworkUse = 'restricted',
): Promise<MountPlan> {
  return files === 'unrestricted' || files.fullWrite
    ? planOpenView(files === 'unrestricted' ? [] : files.entries, network)
    : planRules(files, network);
}

/** Whoever may write everything keeps everything, devices included, but not those who run programs for him. */
function planOpenView(entries: readonly PolicyEntry[], network: NetworkUse): MountPlan {
  const rules = hideServices(placeRules([...entries, { path: ROOT, access: 'write' }]), network);
  const planner = new Planner(rules);
  // What this user cannot rename, no program of his can.
  for (const pin of listPins(rules)) if (isChangeable(rules, parentPath(pin))) planner.pin(pin);
  for (const rule of rules) planner.add(rule);
  planner.sortMounts();
  return { root: 'open', mounts: planner.mounts, targets: planner.targets };
}

async function planRules(files: FilePolicy, network: NetworkUse): Promise<MountPlan> {
  const denied = await findDeniedPaths(files);
  const named = protectRepositories(
    placeRules([
      ...files.entries,
      ...denied.map((path): PolicyEntry => ({ path, access: 'deny' })),
      ...listMinimal(files),
    ]),
  );
  refuseWritableLinks(named);
  const rules = hideServices(named, network);
  const rootAccess = accessTo(rules, ROOT);
  const planner = new Planner(rules);
  for (const pin of listPins(rules)) planner.pin(pin);
  for (const rule of rules) planner.add(rule);
  planner.sortMounts();
  planner.addLinks(rules.flatMap(({ location }) => location.links));
  const { mounts, targets } = planner;
  return { root: rootAccess === 'deny' ? 'empty' : rootAccess, mounts, targets };
}

/**
 * The same view for a program that is to write nothing: there is nothing on disk to be made for it, and what was made for
 * others does not concern it. An open view stays what it is.
 */
export function forbidWriting({ root, mounts, targets }: MountPlan): MountPlan {
  return {
    root: root === 'write' ? 'read' : root,
    mounts: mounts
      .filter(({ path }) => !targets.some((target) => target.path.equals(path)))
      .map((mount) => (mount.kind === 'bind' ? { ...mount, writable: false } : mount)),
    targets: [],
  };
}

function listMinimal({ minimal, entries }: FilePolicy): PolicyEntry[] {
  if (!minimal) return [];
  return MINIMAL_PATHS.map((path) => Buffer.from(path))
    .filter((path) => accessTo(entries, path) === 'deny' && !entries.some((entry) => entry.path.equals(path)))
    .map((path) => ({ path, access: 'read' }));
}

/** Rules by where they lead, so that no link can lead around one. */
function placeRules(entries: readonly PolicyEntry[]): PlacedRule[] {
  const locations = new Map<PolicyEntry, Location>();
  const placed = entries.map((entry) => {
    const location = locatePath(entry.path);
    const rule: PolicyEntry = { ...entry, path: location.path };
    locations.set(rule, location);
    return rule;
  });
  return orderEntries(placed).map((rule) => ({ ...rule, location: locations.get(rule)! }));
}

/** A protected `.git` that only says where the repository is protects that, too, where it could be written. */
function protectRepositories(rules: readonly PlacedRule[]): PlacedRule[] {
  const pointers = rules.filter(
    ({ path, access, location }) =>
      access === 'read' && location.kind === 'file' && baseName(path).equals(GIT),
  );
  const found = pointers.flatMap(({ path }) => readGitPointer(path)).map((path) => locatePath(path));
  const writable = found.filter(
    ({ path, kind }) =>
      kind === 'directory' &&
      accessTo(rules, path) === 'write' &&
      !rules.some((rule) => rule.path.equals(path)),
  );
  const added = writable.map((location): PlacedRule => ({ path: location.path, access: 'read', location }));
  const byPath = new Map([...rules, ...added].map((rule) => [rule.path.toString('latin1'), rule]));
  return [...byPath.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}

/** Denies what runs programs for others, as far as it exists, rules show it, and none of them is for that very path. */
function hideServices(rules: readonly PlacedRule[], network: NetworkUse): PlacedRule[] {
  const all = [...rules];
  for (const hidden of listHiddenPaths(network)) {
    // Most are nowhere, and that is seen by one look.
    if (!existsSync(hidden.path)) continue;
    const { path, kind } = locatePath(Buffer.from(hidden.path));
    if (kind !== (hidden.kind === 'socket' ? 'file' : hidden.kind)) continue;
    if (accessTo(all, path) === 'deny' || rules.some((rule) => rule.path.equals(path))) continue;
    // Nobody has to find it by the way that led there.
    all.push({ path, access: 'deny', location: { path, kind, links: [] } });
    all.sort((a, b) => Buffer.compare(a.path, b.path));
  }
  return all;
}

/**
 * A link in a writable directory says today what a program made of it yesterday. A rule that leads through one would
 * open or close whatever the program likes.
 */
function refuseWritableLinks(rules: readonly PlacedRule[]): void {
  for (const { location } of rules) {
    const changeable = location.links.find(({ path }) => isChangeable(rules, parentPath(path)));
    if (changeable === undefined) continue;
    throw unenforceable(
      `the rule for ${location.path.toString()} leads through a link in a writable directory, ${changeable.path.toString()}`,
    );
  }
}

function isChangeable(rules: readonly PolicyEntry[], directory: Buffer): boolean {
  if (accessTo(rules, directory) !== 'write') return false;
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether a rule is about a name in a directory that does not exist either, and that is not withheld. */
function comesWithMissing({ path, implied, location }: PlacedRule): boolean {
  return implied === true && location.kind === 'missing' && !location.firstMissing?.equals(path);
}

/** What the host has there is not to be seen because of what is withheld of it. */
function isOwnFileSystem(path: Buffer): boolean {
  return [...OWN_FILE_SYSTEMS, ...OWN_DIRECTORIES].some((own) => isWithin(path, own));
}

/**
 * The directories on the way to what is withheld that a program could give another name, and with that take what is in
 * them out of the reach of the rule in the next sandbox. A mount cannot be renamed.
 */
function listPins(rules: readonly PlacedRule[]): Buffer[] {
  const pins = new Map<string, Buffer>();
  for (const rule of rules) {
    if (rule.access === 'write' || comesWithMissing(rule) || isOwnFileSystem(rule.path)) continue;
    let directory = parentPath(rule.location.firstMissing ?? rule.path);
    while (!directory.equals(ROOT) && accessTo(rules, parentPath(directory)) === 'write') {
      if (accessTo(rules, directory) === 'write') pins.set(directory.toString('latin1'), directory);
      directory = parentPath(directory);
    }
  }
  return [...pins.values()];
}

class Planner {
  readonly mounts: Mount[] = [];
  readonly targets: { readonly path: Buffer; readonly kind: TargetKind }[] = [];

  constructor(private readonly rules: readonly PlacedRule[]) {}

  pin(path: Buffer): void {
    this.mounts.push({ kind: 'bind', path, writable: true });
  }

  /** What is mounted on a directory covers what was mounted below it before. */
  sortMounts(): void {
    this.mounts.sort((a, b) => Buffer.compare(a.path, b.path));
  }

  add(rule: PlacedRule): void {
    const { path, access, location } = rule;
    if (path.equals(ROOT) || OWN_FILE_SYSTEMS.some((own) => isWithin(path, own))) return;
    const around = accessTo(this.rules, parentPath(path));
    if (location.kind === 'missing') {
      if (access !== 'write' && !comesWithMissing(rule)) this.#keepMissing(rule, around);
      return;
    }
    // One that is there for somebody else's mounts goes when he goes, unless it is held here, too.
    if (access !== 'write' && isMountTarget(path)) this.targets.push({ path, kind: location.kind });
    if (access === 'deny') {
      if (around !== 'deny') this.#hide(path, location.kind);
    } else if (access !== around) {
      this.mounts.push({ kind: 'bind', path, writable: access === 'write' });
    }
  }

  addLinks(links: readonly CrossedLink[]): void {
    // Several rules may lead through the same one.
    const byPath = new Map(links.map((link) => [link.path.toString('latin1'), link]));
    for (const { path, target } of byPath.values())
      if (accessTo(this.rules, parentPath(path)) === 'deny') this.mounts.push({ kind: 'link', path, target });
  }

  #hide(path: Buffer, kind: TargetKind): void {
    if (kind === 'file') this.mounts.push({ kind: 'hide-file', path });
    else this.mounts.push({ kind: 'hide-directory', path, passable: this.#hasOpenBelow(path) });
  }

  #hasOpenBelow(path: Buffer): boolean {
    return this.rules.some((rule) => rule.access !== 'deny' && isWithin(rule.path, path));
  }

  /** What must not be written, and is not there, must not come to be there either. */
  #keepMissing({ path, access, location }: PlacedRule, around: string): void {
    const above = parentPath(location.firstMissing ?? path);
    // Below one that is there already for somebody else's mounts is nothing to be put.
    const firstMissing = isMountTarget(above) ? above : (location.firstMissing ?? path);
    const parent = parentPath(firstMissing);
    const rule = findRule(this.rules, parent);
    if (around === 'deny' || rule?.access !== 'write' || locatePath(parent).kind !== 'directory') return;
    if (this.targets.some((target) => target.path.equals(firstMissing))) return;
    // What is denied may be meant as anything; what may be read is seen as an empty directory.
    if (access === 'deny') {
      this.targets.push({ path: firstMissing, kind: 'file' });
      this.mounts.push({ kind: 'hide-file', path: firstMissing });
    } else {
      this.targets.push({ path: firstMissing, kind: 'directory' });
      this.mounts.push({ kind: 'bind', path: firstMissing, writable: false });
    }
  }
}
