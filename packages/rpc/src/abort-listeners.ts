/** Who is to be told of an abort, by signal. Each signal has one listener of the platform's, however many these are. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when the signal aborts, and never when it has aborted already. A signal takes any number of listeners
 * this way, such as one for each of a thousand calls; of the platform's own some versions of Node warn from the eleventh on.
 */
export function addAbortListener(signal: AbortSignal | undefined, listener: () => void): void {
  if (signal === undefined || signal.aborted) return;
  const known = listeners.get(signal);
  if (known !== undefined) {
    known.add(listener);
    return;
  }
  listeners.set(signal, new Set([listener]));
  signal.addEventListener('abort', tellAll, { once: true });
}

/** Does nothing for one that was not added, or has been called. */
export function removeAbortListener(signal: AbortSignal | undefined, listener: () => void): void {
  const known = signal && listeners.get(signal);
  if (signal === undefined || !known?.delete(listener) || known.size > 0) return;
  listeners.delete(signal);
  signal.removeEventListener('abort', tellAll);
}

function tellAll(this: AbortSignal): void {
  const known = listeners.get(this) ?? [];
  for (const listener of known) {
    try {
      listener();
    } catch (error) {
      // As it is with listeners of the platform's: one that fails does not keep the others from being called.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
  listeners.delete(this);
}
