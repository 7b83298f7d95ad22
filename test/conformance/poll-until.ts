import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_DEADLINE_MS } from '@exec-server/testing';

/** What is asked of the system announces itself nowhere, so this asks again, in milliseconds. */
const POLL_INTERVAL_MS = 10;

/** Waits until `condition` holds; fails by saying that `what` did not come true. */
export async function pollUntil(what: string, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + DEFAULT_DEADLINE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await delay(POLL_INTERVAL_MS);
  }
}
