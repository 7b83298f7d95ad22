import { linkAbort } from './link-abort.js';

/**
 * A byte stream that reads as slowly as it is read. Cancelling it ends the iteration; so does `signal`, without an
 * error.
 */
export function toReadableStream(
  open: (signal: AbortSignal) => AsyncIterator<Uint8Array>,
  signal?: AbortSignal,
): ReadableStream<Uint8Array> {
  const { controller, unlink } = linkAbort(signal);
  const iterator = open(controller.signal);
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const { done, value } = await iterator.next().catch((error: unknown) => {
          unlink();
          throw error;
        });
        if (done !== true) return stream.enqueue(value);
        unlink();
        stream.close();
      },
      cancel() {
        unlink();
        // An iteration that waits for an event hears of nothing else.
        controller.abort();
      },
    },
    { highWaterMark: 0 },
  );
}
