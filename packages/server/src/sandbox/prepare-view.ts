import type { ConfineOptions } from './backend.js';
import { holdMountTarget, type MountTarget } from './bubblewrap/mount-targets.js';
import { forbidWriting, type MountPlan, planMounts } from './bubblewrap/plan-mounts.js';
import type { ResolvedPolicy } from './policy/policy.js';

/** What a sandboxed program is to see, and what was put on disk for that. */
export interface PreparedView {
  readonly view: MountPlan;
  /** Takes away what was put on disk, once no mount on it is left. */
  release(): void;
}

interface HeldTarget {
  readonly path: Buffer;
  readonly target: MountTarget | undefined;
}

/** Throws `PolicyError` for what mounts cannot keep. */
export async function prepareView(
  { files, network }: ResolvedPolicy,
  { readOnly = false, offline = false }: Pick<ConfineOptions, 'readOnly' | 'offline'>,
): Promise<PreparedView> {
  const wanted = await planMounts(files, offline ? 'unused' : network);
  const view = readOnly ? forbidWriting(wanted) : wanted;
  const held: HeldTarget[] = [];
  const release = () => {
    for (const { target } of held) target?.release();
  };
  try {
    for (const { path, kind } of view.targets) held.push({ path, target: await holdMountTarget(path, kind) });
    return { view: settle(view, held), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Leaves out mounts on targets that could not be made: where this user cannot make anything, no program of his can. */
function settle(view: MountPlan, held: readonly HeldTarget[]): MountPlan {
  const toKey = ({ path }: { readonly path: Buffer }) => path.toString('latin1');
  const missing = new Set(held.filter(({ target }) => target === undefined).map(toKey));
  return missing.size === 0
    ? view
    : { ...view, mounts: view.mounts.filter((mount) => !missing.has(toKey(mount))) };
}
