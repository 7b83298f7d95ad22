import { readVisibleProcess, type TreeMember } from './process-tree.js';
import { readSystemFile } from './system-files.js';

/** Numbers of the children that a thread started, eldest first; `null` when it is gone, or the system has no list. */
export function readChildNumbers(thread: number): number[] | null {
  const list = readSystemFile(`/proc/${thread}/task/${thread}/children`)?.trim();
  if (list === undefined) return null;
  return list === '' ? [] : list.split(' ').map(Number);
}

/**
 * A process that has not been reaped and those that it and its descendants started with their first threads, at a cost
 * that grows with them. There may be more; nobody else is among them. Nobody where the system has no lists.
 */
export function collectNearDescendants(rootPid: number): TreeMember[] {
  const members: TreeMember[] = [];
  const waiting = [{ pid: rootPid, parent: process.pid }];
  for (const { pid, parent } of waiting) {
    const entry = readVisibleProcess(pid);
    // A number that was in the list may be somebody else's by now.
    if (entry?.ppid !== parent) continue;
    members.push({ pid, startTime: entry.startTime });
    for (const child of readChildNumbers(pid) ?? []) waiting.push({ pid: child, parent: pid });
  }
  return members;
}
