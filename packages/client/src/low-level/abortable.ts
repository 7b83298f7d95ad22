import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
/** Settles as `promise` does, or rejects with the reason of the signal, whichever is first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    addAbortListener(signal, abort);
    promise.then(resolve, reject).finally(() => removeAbortListener(signal, abort));
  });
}

/** Resolves after so many milliseconds, or rejects with the reason of the signal. */
export function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return abortable(elapsed, signal).finally(() => clearTimeout(timer));
}
