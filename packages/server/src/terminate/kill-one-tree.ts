import { collectWholeTree } from '../native/cgroup/whole-tree.js';
import { collectNearDescendants } from '../native/children.js';
import type { TreeMember } from '../native/process-tree.js';
import { findMembers, finishLater, type SignalOutcome, stopAndKill, type TreeRoot } from './kill-trees.js';
import { stragglerSweep } from './straggler-sweep.js';

/** Whom a kill reached, and who may come to it. */
export interface KillOutcome extends SignalOutcome {
  /**
   * Kills at once, rather than soon, who was overlooked: a process that moved to another cgroup and lost its parents.
   * Left out when nobody can have been.
   */
  readonly killStragglers?: () => Promise<SignalOutcome>;
}

/**
 * Kills one process with everything it started, as `killTrees` does, at a cost that grows with its tree and not with the
 * processes of the machine, where its cgroup holds the tree together. Elsewhere everybody is looked at once instead of
 * twice, after those that are easy to find have been stopped.
 */
export function killOneTree(root: TreeRoot): KillOutcome {
  let whole: TreeMember[] | null = null;
  let looks = 0;
  const attempt = stopAndKill([root], () => {
    whole = findInCgroup(root);
    if (whole !== null) return whole;
    looks += 1;
    const near = looks > 1 || root.reaped ? [] : collectNearDescendants(root.pid);
    return near.length > 0 ? near : findMembers([root]);
  });
  const outcome = finishLater([root], attempt);
  // Where it is tried again, everybody is looked at anyway.
  return whole === null || outcome.rest !== undefined
    ? outcome
    : { ...outcome, killStragglers: stragglerSweep.add({ root, members: whole }) };
}

function findInCgroup({ pid, reaped, cgroup }: TreeRoot): TreeMember[] | null {
  return reaped || cgroup === null ? null : collectWholeTree(pid, cgroup);
}
