import { collectWholeTree } from '../native/cgroup/whole-tree.js';
import { collectNearDescendants } from '../native/children.js';
import { inTurn } from '../native/end-turns.js';
import { NewProcesses } from '../native/new-processes.js';
import type { TreeMember } from '../native/process-tree.js';
import { finishLater, MAX_LOOKS, type SignalOutcome, StoppedTrees, type TreeRoot } from './kill-trees.js';
import { sharedLooks } from './shared-looks.js';
import { stragglerSweep } from './straggler-sweep.js';

/** Kills at once beyond which a look at everybody, which they share, costs less than to look into the cgroup of each. */
const CGROUP_KILLS = 8;

/** How long a tree that still grows is looked for in any case, in milliseconds. */
const MIN_LOOKS_MS = 1_000;

/** Whom a kill reached, and who may come to it. */
export interface KillOutcome extends SignalOutcome {
  /** Those whose numbers `pids` are. */
  readonly members: readonly TreeMember[];
  /**
   * Kills at once, rather than soon, who was overlooked: a process that moved to another cgroup and lost its parents.
   * Left out when nobody can have been.
   */
  readonly killStragglers?: () => Promise<SignalOutcome>;
}

/**
 * Kills one process with everything it started, as `killTrees` does, in turns with everything else. Where its cgroup holds
 * the tree together, at a cost that grows with the tree and not with the processes of the machine. Elsewhere by looks at
 * everybody, which all trees share that are killed in the meantime. Resolves when nobody is left in its cgroup. Never
 * rejects.
 *
 * @param onKilled called once all signals have been sent, before anybody else hears of the end
 */
export async function killOneTree(root: TreeRoot, onKilled: () => void = () => {}): Promise<KillOutcome> {
  underWay += 1;
  try {
    const begun = await inTurn(() => killInCgroup(root, onKilled));
    const outcome = begun instanceof StoppedTrees ? await killByLooks(root, begun, onKilled) : begun;
    await outcome.done;
    return outcome;
  } finally {
    underWay -= 1;
  }
}

/** Kills that are not over. */
let underWay = 0;

/** Stops the tree, and kills it if its cgroup holds all of it. */
function killInCgroup(root: TreeRoot, onKilled: () => void): KillOutcome | StoppedTrees {
  const { pid, reaped, cgroup } = root;
  const trees = new StoppedTrees([root]);
  if (reaped || cgroup === null || underWay > CGROUP_KILLS) return trees;
  let members: TreeMember[] = [];
  let failure: unknown;
  try {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const whole = collectWholeTree(pid, cgroup);
      if (whole === null) return trees;
      members = whole;
      if (!trees.stop(whole)) break;
    }
  } catch (error) {
    failure = error;
  }
  const outcome = finish(root, trees, failure);
  onKilled();
  // Where it is tried again, everybody is looked at anyway.
  if (outcome.rest !== undefined) return outcome;
  return { ...outcome, killStragglers: stragglerSweep.add({ root, members }) };
}

/** Kills a tree that was stopped, after those that are easy to find have been, too. */
async function killByLooks(root: TreeRoot, trees: StoppedTrees, onKilled: () => void): Promise<KillOutcome> {
  trees.passTurn();
  let failure: unknown;
  try {
    if (!root.reaped && root.cgroup === null)
      await inTurn(() => trees.stop(collectNearDescendants(root.pid)));
    const enough = performance.now() + MIN_LOOKS_MS;
    for (let looks = 0; looks < MAX_LOOKS || performance.now() < enough; looks++) {
      const newProcesses = new NewProcesses();
      const found = await sharedLooks.find(root);
      const grew = await inTurn(() => trees.stop(found));
      let news = await inTurn(() => trees.stopNew(newProcesses));
      let mayGrow = grew || news.grew;
      while (news.visited === 'more' && performance.now() < enough) {
        news = await inTurn(() => trees.stopNew(newProcesses));
        mayGrow ||= news.grew;
      }
      if (!mayGrow && news.visited === 'all') break;
    }
  } catch (error) {
    failure = error;
  }
  return inTurn(() => {
    const outcome = finish(root, trees, failure);
    onKilled();
    return outcome;
  });
}

function finish(root: TreeRoot, trees: StoppedTrees, failure: unknown): KillOutcome {
  const outcome = finishLater([root], trees.kill(failure));
  return { ...outcome, members: trees.members };
}
