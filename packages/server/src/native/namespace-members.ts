import { readFileSync } from 'node:fs';
import { nameProcesses, readProcessTable } from './process-tree.js';

/** A process, named for good by its number and when it started. */
export interface NamedProcess {
  readonly pid: number;
  readonly startTime: number;
}

/** The children of a process, eldest first. Linux only. */
export function findChildren(parent: number): NamedProcess[] {
  return nameProcesses(readChildNumbers(parent));
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

function readChildNumbers(parent: number): number[] {
  try {
    const list = readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1').trim();
    return list === '' ? [] : list.split(' ').map(Number);
  } catch {
    // A kernel without the list, or nobody is there.
    return [...readProcessTable()].flatMap(([pid, { ppid }]) => (ppid === parent ? [pid] : []));
  }
}
