import { lstat } from 'node:fs/promises';
import type { FileAccess } from '../../connection/file-order.js';
import { mapInTurns } from '../../loop-turn.js';
import { countMountChanges } from '../../native/mount-changes.js';
import { forbidWriting, type Mount, type MountPlan, planMounts } from '../bubblewrap/plan-mounts.js';
import type { ResolvedPolicy } from '../policy/policy.js';

/** Errors of a path that leads nowhere. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);

/** Places that are looked at at once. */
const CONCURRENT_LOOKS = 16;

/**
 * What the sandbox of a policy looks like at one moment: which mounts it is made of, and what they are made on. A sandbox
 * that was made then is as good as one that is made now for as long as the two look the same. Otherwise it is stale: a
 * mount goes when somebody outside replaces what it was made on, as editors do that save a file, and what has come to be
 * since then is not covered at all.
 */
export class SandboxView {
  readonly #plan: MountPlan;
  readonly #mounts: string;
  /** What is at the place of each mount. */
  readonly #identities: readonly (string | undefined)[];

  private constructor(plan: MountPlan, identities: readonly (string | undefined)[], mountChanges: number) {
    this.#plan = plan;
    // A mount that the host gets later may show up in the sandbox, too, and as writable as it is outside.
    this.#mounts = [plan.root, ...plan.mounts.map(describeMount), mountChanges].join('\n');
    this.#identities = identities;
  }

  /** Looks at what exists now. Throws `PolicyError` for what mounts cannot keep. */
  static async look(files: ResolvedPolicy['files'], access: FileAccess): Promise<SandboxView> {
    // Before anything else: what changes during the look makes it stale.
    const mountChanges = countMountChanges();
    const wanted = await planMounts(files);
    const plan = access === 'reads' ? forbidWriting(wanted) : wanted;
    return new SandboxView(plan, await identify(plan.mounts), mountChanges);
  }

  /** Whether such a sandbox puts something on disk, for mounts on what does not exist. */
  get leavesTraces(): boolean {
    return this.#plan.targets.length > 0;
  }

  equals(other: SandboxView): boolean {
    return this.#mounts === other.#mounts && isSame(this.#identities, other.#identities);
  }

  /** Whether a sandbox that was being made since this look has become what `now` shows. */
  becomes(now: SandboxView): boolean {
    const isKept = this.#identities.every(
      (identity, index) => identity === undefined || identity === now.#identities[index],
    );
    return this.#mounts === now.#mounts && isKept;
  }

  /** Whether its mounts are all still there. */
  async stillHolds(): Promise<boolean> {
    return isSame(this.#identities, await identify(this.#plan.mounts));
  }
}

function describeMount(mount: Mount): string {
  const details =
    mount.kind === 'bind'
      ? mount.writable
      : mount.kind === 'link'
        ? mount.target.toString('latin1')
        : mount.kind === 'hide-directory' && mount.passable;
  return JSON.stringify([mount.kind, mount.path.toString('latin1'), details]);
}

async function identify(mounts: readonly Mount[]): Promise<(string | undefined)[]> {
  return mapInTurns(mounts, CONCURRENT_LOOKS, async ({ path }) => {
    try {
      const stats = await lstat(path, { bigint: true });
      // The number of a file may be given to the next one; the moment of its birth is not.
      return `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
    } catch (error) {
      if (ABSENT.has((error as NodeJS.ErrnoException).code)) return undefined;
      throw error;
    }
  });
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((value, index) => value === others[index]);
}
