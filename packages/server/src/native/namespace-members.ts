import { readChildNumbers } from './children.js';
import { nameProcesses, readProcessTable } from './process-tree.js';
import { readSystemFile } from './system-files.js';

/** A process, named for good by its number and when it started. */
export interface NamedProcess {
  readonly pid: number;
  readonly startTime: number;
}

/** The children of a process, eldest first. Linux only. */
export function findChildren(parent: number): NamedProcess[] {
  return nameProcesses(readChildNumbers(parent) ?? findChildNumbers(parent));
}

/** The number that a process has in its own PID namespace; nothing when it is gone. Linux only. */
export function readInnerPid(pid: number): number | undefined {
  const status = readSystemFile(`/proc/${pid}/status`);
  if (status === null) return undefined;
  return Number(/^NSpid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/).at(-1));
}

/** For a kernel without the list. */
function findChildNumbers(parent: number): number[] {
  return [...readProcessTable()].flatMap(([pid, { ppid }]) => (ppid === parent ? [pid] : []));
}
