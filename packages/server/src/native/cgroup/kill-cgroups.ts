import { SIGKILL } from '../constants.js';
import { inTurn } from '../end-turns.js';
import type { ProcessCgroup } from './process-cgroup.js';

/** Looks into the groups after which whoever is left cannot be killed, or takes his time. */
const MAX_LOOKS = 20;
/** Time between two looks, in milliseconds. Most processes have ended by the first one, in the next turn of the loop. */
const INTERVAL_MS = 1;

/** Groups that were killed together, and what is known of them. */
interface Kill {
  readonly cgroups: readonly ProcessCgroup[];
  looks: number;
  /** Told what went wrong if somebody may have been overlooked, or left frozen. */
  settle(failure: unknown): void;
}

/**
 * Kills everybody in the groups. Frozen groups cannot grow, but for those whose fork was under way; another look finds
 * them. Resolves when the groups are empty or `MAX_LOOKS` looks were taken, with what went wrong if somebody may have
 * been overlooked, or left frozen.
 */
export function killCgroups(cgroups: readonly ProcessCgroup[]): Promise<unknown> {
  for (const cgroup of cgroups) cgroup.freeze();
  return new Promise((settle) => {
    const kill: Kill = { cgroups, looks: 0, settle };
    if (!look(kill)) dyingGroups.add(kill);
  });
}

/** Waits for all groups that were killed, whoever did it, by the same looks. */
class DyingGroups {
  #kills: Kill[] = [];

  add(kill: Kill): void {
    this.#kills.push(kill);
    if (this.#kills.length === 1) setImmediate(() => void this.#look());
  }

  async #look(): Promise<void> {
    const looks = this.#kills.map(async (kill) => ({ kill, isSettled: await inTurn(() => look(kill)) }));
    const settled = new Set(
      (await Promise.all(looks)).flatMap(({ kill, isSettled }) => (isSettled ? kill : [])),
    );
    this.#kills = this.#kills.filter((kill) => !settled.has(kill));
    if (this.#kills.length > 0) setTimeout(() => void this.#look(), INTERVAL_MS);
  }
}

const dyingGroups = new DyingGroups();

/** Kills who is in the groups now. True when that settles the kill. */
function look(kill: Kill): boolean {
  const { threads, failure } = readAllThreads(kill.cgroups);
  kill.looks += 1;
  for (const thread of threads) killThread(thread);
  if (threads.length > 0 && kill.looks < MAX_LOOKS) return false;
  kill.settle(thaw(kill.cgroups) ?? failure);
  return true;
}

/** Whoever may not be killed, such as another user's process, is not left frozen either. Returns what went wrong. */
function thaw(cgroups: readonly ProcessCgroup[]): unknown {
  let failure: unknown;
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
