import type { LaunchedProcess } from '../native/launch.js';
import { collectTree, readProcessTable, signalProcess, type TreeMember } from '../native/process-tree.js';
import { signalNumber } from '../process/signal-names.js';

const SIGKILL = signalNumber('SIGKILL');
const SIGSTOP = signalNumber('SIGSTOP');

/** Looks at the process table after which a tree that still grows is killed as it is. */
const MAX_LOOKS = 16;

/** A tree of processes, named by its root. */
export type TreeRoot = Pick<LaunchedProcess, 'pid' | 'reaped' | 'signalGroup'>;

/**
 * Kills processes with everything they started: their groups and sessions, and descendants that left both. Returns who
 * was signalled.
 *
 * Everybody is stopped first: a killed parent takes the knowledge of its children with it, and one that runs may start
 * more while the tree is read. Only when a look finds nobody new is anybody killed.
 */
export function killTrees(roots: readonly TreeRoot[]): number[] {
  if (roots.length === 0) return [];
  signalGroups(roots, SIGSTOP);
  const members = new Map<number, TreeMember>();
  for (let look = 0; look < MAX_LOOKS; look++) {
    const found = findMembers(roots).filter(({ pid }) => !members.has(pid));
    if (found.length === 0) break;
    for (const member of found) members.set(member.pid, member);
    signalMembers(found, SIGSTOP);
  }
  signalGroups(roots, SIGKILL);
  return signalMembers([...members.values()], SIGKILL);
}

/** Everybody in the trees, as of now. */
export function findMembers(roots: readonly TreeRoot[]): TreeMember[] {
  const table = readProcessTable();
  // Where the root is reaped and its number runs again, the number is somebody else's.
  const own = roots.filter(({ pid, reaped }) => !reaped || !table.has(pid));
  return own.flatMap(({ pid }) => collectTree(pid, table));
}

/** Signals those that still are who they were, and returns their pids. */
export function signalMembers(members: readonly TreeMember[], signal: number): number[] {
  return members
    .filter(({ pid, startTime }) => attempt(() => signalProcess(pid, startTime, signal)))
    .map(({ pid }) => pid);
}

function signalGroups(roots: readonly TreeRoot[], signal: number): void {
  for (const root of roots) if (!root.reaped) attempt(() => root.signalGroup(signal));
}

/** A process that became another user's cannot be signalled by us, which must not save the others. */
function attempt(send: () => boolean): boolean {
  try {
    return send();
  } catch {
    return false;
  }
}
