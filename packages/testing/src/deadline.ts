/** How long a test waits for an event before it fails, in milliseconds. */
export const DEFAULT_DEADLINE_MS = 15_000;

/** Settles as `event` does, or rejects with `failure()` after `deadlineMs`. */
export async function before<T>(
  event: Promise<T>,
  failure: () => Error,
  deadlineMs = DEFAULT_DEADLINE_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure()), deadlineMs);
  });
  try {
    return await Promise.race([event, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
