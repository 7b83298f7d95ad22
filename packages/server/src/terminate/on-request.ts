import type { ManagedProcess } from '../process/managed-process.js';
import { killTrees } from './kill-trees.js';

/**
 * Kills a process because its client asked. False when it had ended before; what it wrote is still delivered. Throws
 * `OsError` when something of it could not be killed.
 */
export function terminateOnRequest(process: ManagedProcess): boolean {
  if (process.exit !== undefined) return false;
  const refusal = killTrees([process]);
  if (refusal !== undefined) throw refusal;
  // Not before the kill: a program that sees the end of its input may exit in its own way.
  process.stdin?.abandon();
  return true;
}
