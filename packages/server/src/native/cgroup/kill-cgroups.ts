import { SIGKILL } from '../constants.js';
import type { ProcessCgroup } from './process-cgroup.js';

/** Looks into the groups after which whoever is left cannot be killed, or takes his time. */
const MAX_LOOKS = 20;
/**
 * Time between the first two looks, in which most processes end; then each time twice as long. It holds the loop, so
 * that nobody hears of a kill before it is done.
 */
const FIRST_INTERVAL_MS = 0.1;
/** Longest time between two looks. */
const MAX_INTERVAL_MS = 1;

const clockFace = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Kills everybody in the groups, and returns when they are empty or `MAX_LOOKS` looks were taken. Frozen groups cannot
 * grow, but for those whose fork was under way; a second look finds them.
 */
export function killCgroups(cgroups: readonly ProcessCgroup[]): void {
  for (const cgroup of cgroups) cgroup.freeze();
  let intervalMs = FIRST_INTERVAL_MS;
  for (let look = 0; look < MAX_LOOKS; look++) {
    const threads = cgroups.flatMap((cgroup) => cgroup.readThreads());
    if (threads.length === 0) break;
    for (const thread of threads) killThread(thread);
    Atomics.wait(clockFace, 0, 0, intervalMs);
    intervalMs = Math.min(intervalMs * 2, MAX_INTERVAL_MS);
  }
  // Whoever may not be killed, such as another user's process, is not left frozen either.
  for (const cgroup of cgroups) cgroup.thaw();
}

/** The number of any thread stands for its process. */
function killThread(thread: number): void {
  try {
    process.kill(thread, SIGKILL);
  } catch {
    // It has ended, or is out of reach.
  }
}
