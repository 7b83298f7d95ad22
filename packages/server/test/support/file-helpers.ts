import { readFileSync } from 'node:fs';
import { collectTrees, readProcessTable } from '../../src/native/process-tree.js';

/** The helpers for files that a server has running, by their pids. */
export function findFileHelpers(server: number = process.pid): number[] {
  return collectTrees([server], readProcessTable())
    .map(({ pid }) => pid)
    .filter((pid) => readCommandLine(pid).startsWith('exec-server-files\0'));
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
