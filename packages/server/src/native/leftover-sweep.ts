import { platform } from 'node:process';
import { readProcessTable, scanProc } from './process-tree.js';

/** First delay until the processes of ended leaders are looked for. */
const MIN_INTERVAL_MS = 1_000;
/** Delay that is reached, by doubling, while sweep after sweep finds the same processes. */
const MAX_INTERVAL_MS = 30_000;
/** Processes that are looked at in one turn of the loop; one costs some 20 µs. */
const ENTRIES_PER_TURN = 64;

/**
 * Finds out when the session of a child that ended is empty. The number of a session or group is not given to a new
 * process while one member lives, and may be at any time after that; whoever remembers it must forget it then. One walk
 * of the process table answers for all of them, so the cost does not grow with the number of ended children.
 */
export class LeftoverSweep {
  readonly #onEmpty: (leader: number) => void;
  readonly #leaders = new Set<number>();
  #timer: NodeJS.Timeout | null = null;
  #intervalMs = MIN_INTERVAL_MS;
  #sweeping = false;
  #closed = false;

  constructor(onEmpty: (leader: number) => void) {
    this.#onEmpty = onEmpty;
  }

  /** Call it when the leader has been reaped. */
  add(leader: number): void {
    this.#leaders.add(leader);
    this.#schedule(MIN_INTERVAL_MS);
  }

  /** The number is in use again, by a child of ours. */
  delete(leader: number): void {
    this.#leaders.delete(leader);
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(intervalMs: number): void {
    // A sweep under way schedules the next one itself.
    if (this.#closed || this.#sweeping) return;
    if (this.#timer !== null) {
      if (intervalMs >= this.#intervalMs) return;
      clearTimeout(this.#timer);
    }
    this.#intervalMs = intervalMs;
    this.#timer = setTimeout(() => void this.#sweep(), intervalMs).unref();
  }

  async #sweep(): Promise<void> {
    const asked = [...this.#leaders];
    this.#timer = null;
    this.#sweeping = true;
    const inUse = await collectLeaders();
    this.#sweeping = false;
    if (this.#closed) return;
    const empty = asked.filter((leader) => !inUse.has(leader));
    // A number that was given to a new child of ours while the table was read is not in the set any more.
    for (const leader of empty) if (this.#leaders.delete(leader)) this.#onEmpty(leader);
    if (this.#leaders.size === 0) return;
    const unchanged = empty.length === 0 && this.#leaders.size === asked.length;
    this.#schedule(unchanged ? Math.min(this.#intervalMs * 2, MAX_INTERVAL_MS) : MIN_INTERVAL_MS);
  }
}

/** Every session and group that has a member. */
async function collectLeaders(): Promise<Set<number>> {
  const leaders = new Set<number>();
  let untilTurn = ENTRIES_PER_TURN;
  for (const [, { pgid, sid }] of platform === 'linux' ? scanProc() : readProcessTable()) {
    leaders.add(pgid).add(sid);
    untilTurn -= 1;
    if (untilTurn > 0) continue;
    untilTurn = ENTRIES_PER_TURN;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return leaders;
}
