import { readChildNumbers } from '../children.js';
import { readVisibleProcess, type TreeMember } from '../process-tree.js';
import { listSystemDirectory, readSystemFile } from '../system-files.js';
import type { ProcessCgroup } from './process-cgroup.js';

/**
 * Everybody in a process's cgroup, found at a cost that grows with them and not with the processes of the machine.
 * `null` when they cannot be the whole tree: the process, a thread or a child of somebody in there is outside, or the
 * system does not tell who the children are. Whoever left the group and lost his parents is not seen from here.
 */
export function collectWholeTree(rootPid: number, cgroup: ProcessCgroup): TreeMember[] | null {
  const inside = new Set(cgroup.readThreads());
  if (!inside.has(rootPid)) return null;
  const members: TreeMember[] = [];
  const visited = new Set<number>();
  for (const thread of inside) {
    if (visited.has(thread)) continue;
    const threads = listThreads(thread);
    for (const sibling of threads) {
      visited.add(sibling);
      if (!inside.has(sibling) || hasChildOutside(sibling, inside)) return null;
    }
    const pid = threads.length > 1 ? readProcessNumber(thread) : thread;
    const entry = readVisibleProcess(pid);
    if (entry !== null) members.push({ pid, startTime: entry.startTime });
  }
  return members;
}

/** Numbers of all threads of the process that a thread belongs to; none when it has ended. */
function listThreads(thread: number): number[] {
  return listSystemDirectory(`/proc/${thread}/task`)?.map(Number) ?? [];
}

/** The system lists children by the thread that started them. */
function hasChildOutside(thread: number, inside: ReadonlySet<number>): boolean {
  const children = readChildNumbers(thread);
  // A kernel without the list, unless the thread has just ended.
  if (children === null) return readVisibleProcess(thread) !== null;
  // A child that has ended and waits to be reaped is in no group.
  return children.some((child) => !inside.has(child) && readVisibleProcess(child) !== null);
}

/** The number of the process that a thread belongs to; the thread's own when it has ended. */
function readProcessNumber(thread: number): number {
  const status = readSystemFile(`/proc/${thread}/status`);
  return status === null ? thread : Number(/^Tgid:\s+(\d+)$/m.exec(status)?.[1]);
}
