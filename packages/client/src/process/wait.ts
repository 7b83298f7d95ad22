import { addAbortListener, MAX_TIMER_MS, removeAbortListener } from '@exec-server/rpc';
import { requireWholeNumber } from '../usage.js';
import { WaitTimeoutError } from './errors.js';
import type { ProcessRecord } from './process-record.js';

/** How long to wait. */
export interface WaitOptions {
  /** Rejects with `WaitTimeoutError` after so many milliseconds. The process goes on. @default never */
  readonly timeoutMs?: number;
  /** Rejects with its reason. The process goes on. */
  readonly signal?: AbortSignal;
}

/** Resolves when the promise has settled or the time has passed. */
export async function settleWithin(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, Math.min(timeoutMs, MAX_TIMER_MS));
  });
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Waits as long as the options allow. `missing` says in the error what did not happen. */
export async function waitWithin<T>(
  promise: Promise<T>,
  { timeoutMs, signal }: WaitOptions,
  record: ProcessRecord,
  missing: string,
): Promise<T> {
  // A wait that ends first leaves no one to take a later failure.
  promise.catch(() => {});
  requireWholeNumber('timeoutMs', timeoutMs);
  signal?.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop = () => {};
  const givenUp = new Promise<never>((_, reject) => {
    if (timeoutMs !== undefined)
      timer = setTimeout(
        () => reject(new WaitTimeoutError(`${missing} within ${timeoutMs} ms`, record.summarize())),
        Math.min(timeoutMs, MAX_TIMER_MS),
      );
    stop = () => reject(signal?.reason);
    addAbortListener(signal, stop);
  });
  try {
    return await Promise.race([promise, givenUp]);
  } finally {
    clearTimeout(timer);
    removeAbortListener(signal, stop);
  }
}
