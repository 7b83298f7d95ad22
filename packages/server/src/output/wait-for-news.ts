import type { Clock } from '../clock.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { hasNewsFor, type ReadCursor } from './read-from-cursor.js';

/** Resolves when the process has something to say beyond the cursor, or `waitMs` have passed. */
export function waitForNews(
  process: ManagedProcess,
  cursor: ReadCursor,
  options: { readonly waitMs: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => () => {
      unwatch();
      timer.cancel();
      options.signal.removeEventListener('abort', abort);
      settle();
    };
    const done = finish(resolve);
    const abort = finish(() => reject(options.signal.reason as Error));
    const unwatch = process.watch(() => {
      if (hasNewsFor(process, cursor)) done();
    });
    const timer = options.clock.after(options.waitMs, done);
    options.signal.addEventListener('abort', abort);
  });
}
