import { isWithin, parentPath } from '../../fs/native-path.js';
import { LoopTurn, runInTurns } from '../../loop-turn.js';
import { findDeniedPaths } from '../policy/find-denied-paths.js';
import type { ResolvedPolicy } from '../policy/policy.js';
import { unenforceable } from '../policy/policy-error.js';
import { type RuleTree, sortByPath } from '../policy/rule-tree.js';
import { PathLocator } from './locate-path.js';
import { isMountTarget, mayBeMountTarget, type TargetKind } from './mount-targets.js';
import { isChangeable, type PlacedRule, placeOpenPolicy, placePolicy } from './place-rules.js';

/** One thing that the view of a sandboxed program is made of. Paths lead through no link. */
export type Mount =
  | { readonly kind: 'bind'; readonly path: Buffer; readonly writable: boolean }
  /** Nothing can be seen of the directory. A passable one can still be gone through, to what is mounted below. */
  | { readonly kind: 'hide-directory'; readonly path: Buffer; readonly passable: boolean }
  | { readonly kind: 'hide-file'; readonly path: Buffer }
  /** A link where the view has nothing else, so that paths which lead through it go on to work. */
  | { readonly kind: 'link'; readonly path: Buffer; readonly target: Buffer };

export interface MountPlan {
  /** What the whole is: the host's root, or an empty one. */
  readonly root: 'read' | 'write' | 'empty';
  /** In the order in which they are made. */
  readonly mounts: readonly Mount[];
  /** What has to be put in place first, because mounts are made on it and nothing is there. */
  readonly targets: readonly { readonly path: Buffer; readonly kind: TargetKind }[];
}

/**
 * Rules and patterns of one sandbox. Each takes mounts, and the time in which a sandbox is made grows with the square of
 * their number.
 */
export const MAX_PLANNED_RULES = 2_000;

const ROOT = Buffer.from('/');

/** Made anew for every sandbox, whatever the rules say. */
const OWN_FILE_SYSTEMS = [Buffer.from('/proc')];
/** The same, but rules may put something of the host there. */
const OWN_DIRECTORIES = [Buffer.from('/dev'), Buffer.from('/sys')];

/**
 * Decides what a program sees under a policy, from what exists now. Throws `PolicyError` for what mounts cannot
 * keep.
 */
export async function planMounts(
  files: ResolvedPolicy['files'],
  network: ResolvedPolicy['network'] = 'restricted',
): Promise<MountPlan> {
  refuseTooManyRules(files);
  const locator = new PathLocator();
  // Whoever may write every file keeps them all, but neither devices nor those who run programs for him.
  const isOpen = files === 'unrestricted' || files.fullWrite;
  const rules = isOpen
    ? await placeOpenPolicy(files, network, locator)
    : await placePolicy(files, await findDeniedPaths(files), network, locator);
  const planner = new Planner(rules, locator);
  // What this user cannot rename, no program of his can.
  for (const pin of await planner.listPins())
    if (!isOpen || (await isChangeable(rules, parentPath(pin)))) planner.pin(pin);
  await planner.addRules();
  const { targets } = planner;
  const mounts = [...(await planner.sortMounts()), ...planner.listLinks()];
  const rootAccess = rules.accessTo(ROOT);
  return { root: rootAccess === 'deny' ? 'empty' : rootAccess, mounts, targets };
}

/** Throws `PolicyError` for a policy that takes more mounts than there can be. */
export function refuseTooManyRules(files: ResolvedPolicy['files']): void {
  if (files === 'unrestricted' || files.ruleCount <= MAX_PLANNED_RULES) return;
  throw unenforceable(
    `a sandbox keeps at most ${MAX_PLANNED_RULES} rules, and this sandbox has ${files.ruleCount}; name directories instead of what is in them`,
  );
}

/**
 * The same view for a program that is to write nothing: there is nothing on disk to be made for it, and what was made for
 * others does not concern it.
 */
export function forbidWriting({ root, mounts, targets }: MountPlan): MountPlan {
  const made = new Set(targets.map(({ path }) => path.toString('latin1')));
  return {
    root: root === 'write' ? 'read' : root,
    mounts: mounts
      .filter(({ path }) => !made.has(path.toString('latin1')))
      .map((mount) => (mount.kind === 'bind' ? { ...mount, writable: false } : mount)),
    targets: [],
  };
}

/** Whether a rule is about a name in a directory that does not exist either, and that is not withheld. */
function comesWithMissing({ path, implied, location }: PlacedRule): boolean {
  return implied === true && location.kind === 'missing' && !location.firstMissing?.equals(path);
}

/** Whether something with a mode was put there to be mounted on; somebody may have taken it away since it was seen. */
async function wasMountTarget(path: Buffer, mode = 0): Promise<boolean> {
  return mayBeMountTarget(mode) && (await isMountTarget(path)) !== false;
}

class Planner {
  readonly targets: { readonly path: Buffer; readonly kind: TargetKind }[] = [];
  readonly #mounts: Mount[] = [];
  readonly #held = new Set<string>();

  constructor(
    private readonly rules: RuleTree<PlacedRule>,
    private readonly locator: PathLocator,
  ) {}

  /**
   * The directories on the way to what is withheld that a program could give another name, and with that take what is in
   * them out of the reach of the rule in the next sandbox. A mount cannot be renamed.
   */
  async listPins(): Promise<Buffer[]> {
    const turn = new LoopTurn();
    const pins: Buffer[] = [];
    const seen = new Set<string>();
    for (const rule of this.rules.rules) {
      if (rule.access === 'write' || comesWithMissing(rule)) continue;
      let directory = parentPath(rule.location.firstMissing ?? rule.path);
      // What is above a directory that was seen was seen with it.
      while (
        !directory.equals(ROOT) &&
        this.#isOfHost(directory) &&
        !seen.has(directory.toString('latin1'))
      ) {
        const above = parentPath(directory);
        if (this.rules.accessTo(above) !== 'write') break;
        seen.add(directory.toString('latin1'));
        if (this.rules.accessTo(directory) === 'write') pins.push(directory);
        directory = above;
        if (turn.isOver) await turn.pause();
      }
      if (turn.isOver) await turn.pause();
    }
    return pins;
  }

  /** Whether what is seen at a path is the host's: of what every sandbox has its own of, that is what a rule names. */
  #isOfHost(path: Buffer): boolean {
    if (OWN_FILE_SYSTEMS.some((own) => isWithin(path, own))) return false;
    const own = OWN_DIRECTORIES.find((directory) => isWithin(path, directory));
    const rule = own && this.rules.find(path);
    return own === undefined || (rule !== undefined && isWithin(rule.path, own));
  }

  pin(path: Buffer): void {
    this.#mounts.push({ kind: 'bind', path, writable: true });
  }

  async addRules(): Promise<void> {
    const turn = new LoopTurn();
    for (const rule of this.rules.rules) {
      await this.#add(rule);
      if (turn.isOver) await turn.pause();
    }
  }

  /** What is mounted on a directory covers what was mounted below it before. */
  async sortMounts(): Promise<Mount[]> {
    return runInTurns(sortByPath(this.#mounts));
  }

  /** The links that rules lead through, where nothing else is to be seen of where they are. */
  listLinks(): Mount[] {
    // Several rules may lead through the same one.
    const byPath = new Map(
      this.rules.rules.flatMap(({ location }) =>
        location.links.map((link) => [link.path.toString('latin1'), link]),
      ),
    );
    return [...byPath.values()]
      .filter(({ path }) => this.rules.accessTo(parentPath(path)) === 'deny')
      .map(({ path, target }) => ({ kind: 'link', path, target }));
  }

  async #add(rule: PlacedRule): Promise<void> {
    const { path, access, location } = rule;
    if (path.equals(ROOT) || OWN_FILE_SYSTEMS.some((own) => isWithin(path, own))) return;
    const parent = parentPath(path);
    const around = this.rules.accessTo(parent);
    if (location.kind === 'missing') {
      if (access !== 'write' && !comesWithMissing(rule)) await this.#keepMissing(rule, around);
      return;
    }
    // One that is there for somebody else's mounts goes when he goes, unless it is held here, too.
    if (access !== 'write' && (await wasMountTarget(path, location.mode)))
      this.#holdTarget(path, location.kind);
    if (access === 'deny') {
      if (around !== 'deny') this.#hide(path, location.kind);
    } else if (access !== around || (access === 'write' && !this.#isOfHost(parent))) {
      this.#mounts.push({ kind: 'bind', path, writable: access === 'write' });
    }
  }

  #holdTarget(path: Buffer, kind: TargetKind): void {
    this.targets.push({ path, kind });
    this.#held.add(path.toString('latin1'));
  }

  #hide(path: Buffer, kind: TargetKind): void {
    if (kind === 'file') this.#mounts.push({ kind: 'hide-file', path });
    else this.#mounts.push({ kind: 'hide-directory', path, passable: this.rules.hasOpenWithin(path) });
  }

  /** What must not be written, and is not there, must not come to be there either. */
  async #keepMissing({ path, access, location }: PlacedRule, around: string): Promise<void> {
    const above = parentPath(location.firstMissing ?? path);
    // Below one that is there already for somebody else's mounts is nothing to be put.
    const isTarget = await wasMountTarget(above, (await this.locator.look(above))?.mode);
    const firstMissing = isTarget ? above : (location.firstMissing ?? path);
    const parent = parentPath(firstMissing);
    if (around === 'deny' || this.rules.accessTo(parent) !== 'write') return;
    if ((await this.locator.look(parent))?.kind !== 'directory') return;
    if (this.#held.has(firstMissing.toString('latin1'))) return;
    // What is denied may be meant as anything; what may be read is seen as an empty directory.
    if (access === 'deny') {
      this.#holdTarget(firstMissing, 'file');
      this.#mounts.push({ kind: 'hide-file', path: firstMissing });
    } else {
      this.#holdTarget(firstMissing, 'directory');
      this.#mounts.push({ kind: 'bind', path: firstMissing, writable: false });
    }
  }
}
