import type { LaunchedProcess } from '../native/launch.js';
import { collectTree, readProcessTable, signalProcess } from '../native/process-tree.js';

const SIGKILL = 9;

/** A tree of processes, named by its root. */
export type TreeRoot = Pick<LaunchedProcess, 'pid' | 'reaped' | 'signalGroup'>;

/**
 * Kills processes with everything they started: their groups and sessions, and descendants that left both. The tree is
 * read first, because a killed parent takes the knowledge of its children with it.
 */
export function killTrees(roots: readonly TreeRoot[]): void {
  if (roots.length === 0) return;
  const table = readProcessTable();
  // Where the root is reaped and its number runs again, the number is somebody else's.
  const own = roots.filter(({ pid, reaped }) => !reaped || !table.has(pid));
  const members = own.flatMap(({ pid }) => collectTree(pid, table));
  for (const root of own) root.signalGroup(SIGKILL);
  for (const { pid, startTime } of members) signalProcess(pid, startTime, SIGKILL);
}
