import { constants } from 'node:os';
import type { LaunchedProcess } from '../native/launch.js';
import { collectTree, readProcessTable, signalProcess } from '../native/process-tree.js';
import { OsError } from '../os-error.js';

const SIGKILL = 9;

/** A tree of processes, named by its root. */
export type TreeRoot = Pick<LaunchedProcess, 'pid' | 'reaped' | 'signalGroup'>;

/**
 * Kills processes with everything they started: their groups and sessions, and descendants that left both. The tree is
 * read first, because a killed parent takes the knowledge of its children with it. A process that has become another
 * user's, as under `sudo`, may be out of reach: the others are killed all the same, and the refusal is returned.
 */
export function killTrees(roots: readonly TreeRoot[]): OsError | undefined {
  if (roots.length === 0) return undefined;
  const table = readProcessTable();
  // Where the root is reaped and its number runs again, the number is somebody else's.
  const own = roots.filter(({ pid, reaped }) => !reaped || !table.has(pid));
  const members = own.flatMap(({ pid }) => collectTree(pid, table));
  const groups = own.map((root) => attempt(() => root.signalGroup(SIGKILL)));
  const single = members.map(({ pid, startTime }) => attempt(() => signalProcess(pid, startTime, SIGKILL)));
  return [...groups, ...single].every(Boolean) ? undefined : new OsError(constants.errno.EPERM, 'kill');
}

/** False when the system refused the signal. */
function attempt(send: () => boolean): boolean {
  try {
    send();
    return true;
  } catch {
    return false;
  }
}
