import { mapInTurns } from '../loop-turn.js';
import type { ConfineOptions } from './backend.js';
import { holdMountTarget, type MountTarget } from './bubblewrap/mount-targets.js';
import { forbidWriting, type MountPlan, planMounts } from './bubblewrap/plan-mounts.js';
import type { ResolvedPolicy } from './policy/policy.js';

/** Mount targets that are put in place, or taken away, at once. */
const CONCURRENT_TARGETS = 16;

/** What a sandboxed program is to see, and what was put on disk for that. */
export interface PreparedView {
  readonly view: MountPlan;
  /** Takes away what was put on disk, once no mount on it is left. Never rejects. */
  release(): Promise<void>;
}

interface HeldTarget {
  readonly path: Buffer;
  readonly target: MountTarget | undefined;
}

/** Throws `PolicyError` for what mounts cannot keep. */
export async function prepareView(
  { files, network }: ResolvedPolicy,
  { readOnly = false }: Pick<ConfineOptions, 'readOnly'>,
): Promise<PreparedView> {
  const wanted = await planMounts(files, network);
  const view = readOnly ? forbidWriting(wanted) : wanted;
  const held = await holdTargets(view);
  return { view: settle(view, held), release: () => releaseTargets(held) };
}

async function holdTargets(view: MountPlan): Promise<HeldTarget[]> {
  let failure: unknown;
  const held = await mapInTurns(view.targets, CONCURRENT_TARGETS, async ({ path, kind }) => {
    // All of them settle, so that what is held can be let go.
    const target = await holdMountTarget(path, kind).catch((error: unknown) => {
      failure ??= error;
      return undefined;
    });
    return { path, target };
  });
  if (failure === undefined) return held;
  await releaseTargets(held);
  throw failure;
}

async function releaseTargets(held: readonly HeldTarget[]): Promise<void> {
  await mapInTurns(held, CONCURRENT_TARGETS, async ({ target }) => target?.release());
}

/** Leaves out mounts on targets that could not be made: where this user cannot make anything, no program of his can. */
function settle(view: MountPlan, held: readonly HeldTarget[]): MountPlan {
  const toKey = ({ path }: { readonly path: Buffer }) => path.toString('latin1');
  const missing = new Set(held.filter(({ target }) => target === undefined).map(toKey));
  return missing.size === 0
    ? view
    : { ...view, mounts: view.mounts.filter((mount) => !missing.has(toKey(mount))) };
}
