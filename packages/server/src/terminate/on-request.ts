import type { Clock } from '../clock.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { terminateGracefully } from './gracefully.js';
import { killTrees } from './kill-trees.js';

/** How a client wants a process ended: at once, or after a time of grace. */
export type TerminateMode = 'force' | { readonly graceMs: number };

/** What a request to end a process came to. */
export interface TerminateOutcome {
  /** False when it had ended before; nobody was signalled then. */
  readonly running: boolean;
  /** Who was signalled. */
  readonly pids: readonly number[];
}

/** Ends a process because its client asked. What it wrote is still delivered. */
export function terminateOnRequest(
  process: ManagedProcess,
  mode: TerminateMode,
  clock: Clock,
): TerminateOutcome {
  if (process.exit !== undefined) return { running: false, pids: [] };
  if (mode !== 'force') {
    return { running: true, pids: terminateGracefully(process, { timeoutMs: mode.graceMs, clock }) };
  }
  const pids = killTrees([process]);
  // Not before the kill: a program that sees the end of its input may exit in its own way.
  process.stdin?.abandon();
  return { running: true, pids };
}
