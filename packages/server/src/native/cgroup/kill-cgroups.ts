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
 * grow, but for those whose fork was under way; a second look finds them. Returns what went wrong if somebody may have
 * been overlooked, or left frozen.
 */
export function killCgroups(cgroups: readonly ProcessCgroup[]): unknown {
  for (const cgroup of cgroups) cgroup.freeze();
  let intervalMs = FIRST_INTERVAL_MS;
  let failure: unknown;
  for (let look = 0; look < MAX_LOOKS; look++) {
    const found = readAllThreads(cgroups);
    ({ failure } = found);
    if (found.threads.length === 0) break;
    for (const thread of found.threads) killThread(thread);
    Atomics.wait(clockFace, 0, 0, intervalMs);
    intervalMs = Math.min(intervalMs * 2, MAX_INTERVAL_MS);
  }
  // Whoever may not be killed, such as another user's process, is not left frozen either.
  for (const cgroup of cgroups) {
    try {
      cgroup.thaw();
    } catch (error) {
      failure = error;
    }
  }
  return failure;
}

function readAllThreads(cgroups: readonly ProcessCgroup[]): { threads: number[]; failure: unknown } {
  let failure: unknown;
  const threads = cgroups.flatMap((cgroup) => {
    try {
      return cgroup.readThreads();
    } catch (error) {
      failure = error;
      return [];
    }
  });
  return { threads, failure };
}

/** The number of any thread stands for its process. */
function killThread(thread: number): void {
  try {
    process.kill(thread, SIGKILL);
  } catch {
    // It has ended, or is out of reach.
  }
}
