import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import type { Clock } from '../clock.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { hasNewsFor, type ReadCursor } from './read-from-cursor.js';

export interface WaitOptions {
  /** Longest wait; absent for as long as it takes. */
  readonly waitMs: number | undefined;
  readonly clock: Clock;
  /** Ends the wait with its reason. */
  readonly signal: AbortSignal;
}

/** Resolves when the process has something to say beyond the cursor, or `waitMs` have passed. */
export function waitForNews(
  process: ManagedProcess,
  cursor: ReadCursor,
  options: WaitOptions,
): Promise<void> {
  return waitForEvent(process, () => hasNewsFor(process, cursor), options);
}

/** Resolves when an event of the process makes `isOver` true, or `waitMs` have passed. */
export function waitForEvent(
  process: ManagedProcess,
  isOver: () => boolean,
  { waitMs, clock, signal }: WaitOptions,
): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => () => {
      unwatch();
      timer?.cancel();
      removeAbortListener(signal, abort);
      settle();
    };
    const done = finish(resolve);
    const abort = finish(() => reject(signal.reason as Error));
    const unwatch = process.watch(() => {
      if (isOver()) done();
    });
    const timer = waitMs === undefined ? undefined : clock.after(waitMs, done);
    addAbortListener(signal, abort);
  });
}
