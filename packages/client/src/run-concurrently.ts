import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
/** How many tasks run at once, and what ends them all. */
export interface ConcurrencyOptions {
  readonly atOnce: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs a task for every item, some of them at once. The first failure ends those under way by their signal and lets no
 * other begin; it is thrown when all are over.
 */
export async function runConcurrently<T>(
  items: Iterable<T>,
  { atOnce, signal }: ConcurrencyOptions,
  run: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted();
  // A signal for each worker: with one for all, so many would listen to it that the platform suspects a leak.
  const controllers = Array.from({ length: atOnce }, () => new AbortController());
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    for (const controller of controllers) controller.abort(failure.error);
  };
  const abort = () => fail(signal?.reason);
  addAbortListener(signal, abort);
  // One iterator for all, so that each item is taken once.
  const iterator = items[Symbol.iterator]();
  const workers = controllers.map(async (controller) => {
    try {
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        controller.signal.throwIfAborted();
        await run(next.value, controller.signal);
      }
    } catch (error) {
      fail(error);
    }
  });
  await Promise.all(workers);
  removeAbortListener(signal, abort);
  if (failure !== undefined) throw failure.error;
}
