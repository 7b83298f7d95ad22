import type { Clock } from '../clock.js';
import { waitForEvent } from '../output/wait-for-news.js';
import type { ManagedProcess } from './managed-process.js';

/** Whether the outcome of a process is known: it has exited, and once it has closed its spill file is complete too. */
export function hasOutcome({ exit, closed, spill }: ManagedProcess): boolean {
  return exit !== undefined && !(closed && spill?.complete === false);
}

/** Resolves when the outcome is known, or `timeoutMs` have passed; without a time it waits for as long as it takes. */
export function waitForOutcome(
  process: ManagedProcess,
  options: { readonly timeoutMs: number | undefined; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { timeoutMs: waitMs, clock, signal } = options;
  return waitForEvent(process, () => hasOutcome(process), { waitMs, clock, signal });
}
