import type { Clock } from '../clock.js';
import { waitForEvent } from '../output/wait-for-news.js';
import type { ManagedProcess } from './managed-process.js';

/** Resolves when the process has exited, or `timeoutMs` have passed; without a time it waits for as long as it takes. */
export function waitForExit(
  process: ManagedProcess,
  options: { readonly timeoutMs: number | undefined; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { timeoutMs: waitMs, clock, signal } = options;
  return waitForEvent(process, () => process.exit !== undefined, { waitMs, clock, signal });
}
