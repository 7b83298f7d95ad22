import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
/** A controller that is aborted with the given signal too. Call `unlink` once it is of no use any more. */
export function linkAbort(signal: AbortSignal | undefined): {
  readonly controller: AbortController;
  readonly unlink: () => void;
} {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  addAbortListener(signal, abort);
  return { controller, unlink: () => removeAbortListener(signal, abort) };
}
