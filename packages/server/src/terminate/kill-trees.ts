import type { LaunchedProcess } from '../native/launch.js';
import { collectTree, readProcessTable, signalProcess } from '../native/process-tree.js';

const SIGKILL = 9;

/** A tree of processes, named by its root. */
export type TreeRoot = Pick<LaunchedProcess, 'pid' | 'signalGroup'>;

/**
 * Kills processes with everything they started: their groups, and descendants that left the group. The tree is read
 * first, because a killed parent takes the knowledge of its children with it.
 */
export function killTrees(roots: readonly TreeRoot[]): void {
  if (roots.length === 0) return;
  const table = readProcessTable();
  const members = roots.flatMap(({ pid }) => collectTree(pid, table));
  for (const root of roots) root.signalGroup(SIGKILL);
  for (const { pid, startTime } of members) signalProcess(pid, startTime, SIGKILL);
}
