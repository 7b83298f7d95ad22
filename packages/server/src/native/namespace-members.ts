import { readFileSync } from 'node:fs';
import { readChildNumbers } from './children.js';
import { nameProcesses, readProcessTable } from './process-tree.js';

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
  try {
    const numbers = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(numbers?.split(/\s+/).at(-1));
  } catch {
    return undefined;
  }
}

/** For a kernel without the list. */
function findChildNumbers(parent: number): number[] {
  return [...readProcessTable()].flatMap(([pid, { ppid }]) => (ppid === parent ? [pid] : []));
}
