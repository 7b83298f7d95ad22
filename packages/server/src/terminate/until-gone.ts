import type { Clock } from '../clock.js';
import { nameProcesses } from '../native/process-tree.js';
import { signalMembers } from './kill-trees.js';

/** Between the first two looks at processes that are ending, in milliseconds; then each time twice as long. */
const FIRST_LOOK_MS = 5;

/** Longest time between two looks, in milliseconds. */
const MAX_LOOK_MS = 100;

/** Resolves when none of the processes that have these numbers now runs any more. Rejects with the signal's reason. */
export async function untilGone(
  pids: readonly number[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  let left = nameProcesses(pids);
  for (let lookMs = FIRST_LOOK_MS; left.length > 0; lookMs = Math.min(lookMs * 2, MAX_LOOK_MS)) {
    await pause(lookMs, clock, signal);
    const running = new Set(signalMembers(left, 0).pids);
    left = left.filter(({ pid }) => running.has(pid));
  }
}

function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel();
      reject(signal.reason as Error);
    };
    const timer = clock.after(delayMs, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
