import { platform } from 'node:process';
import { readProcessTable, scanProc } from './process-tree.js';

/** First delay until what ended children left is looked for. */
const MIN_INTERVAL_MS = 1_000;
/** Delay that is reached, by doubling, while sweep after sweep finds the same processes. */
const MAX_INTERVAL_MS = 30_000;
/** Processes that are looked at in one turn of the loop; one costs some 20 µs. */
const ENTRIES_PER_TURN = 64;

/**
 * Finds out when nobody is left of what a child that ended had started, by whatever holds them together. All are asked
 * for at once, and more rarely while nothing changes.
 */
export class LeftoverSweep<Bond> {
  readonly #findLiving: (asked: readonly Bond[]) => ReadonlySet<Bond> | Promise<ReadonlySet<Bond>>;
  readonly #onEmpty: (bond: Bond) => void;
  readonly #bonds = new Set<Bond>();
  #timer: NodeJS.Timeout | null = null;
  #intervalMs = MIN_INTERVAL_MS;
  #sweeping = false;
  #closed = false;

  /** @param findLiving those of the asked that have a member; it may name others too */
  constructor(
    findLiving: (asked: readonly Bond[]) => ReadonlySet<Bond> | Promise<ReadonlySet<Bond>>,
    onEmpty: (bond: Bond) => void,
  ) {
    this.#findLiving = findLiving;
    this.#onEmpty = onEmpty;
  }

  /** Call it when the child has been reaped. */
  add(bond: Bond): void {
    this.#bonds.add(bond);
    this.#schedule(MIN_INTERVAL_MS);
  }

  /** The number is in use again, by a child of ours. */
  delete(bond: Bond): void {
    this.#bonds.delete(bond);
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
    const asked = [...this.#bonds];
    this.#timer = null;
    this.#sweeping = true;
    const living = await this.#look(asked);
    this.#sweeping = false;
    if (this.#closed) return;
    const empty = asked.filter((bond) => !living.has(bond));
    // A number that was given to a new child of ours while the table was read is not in the set any more.
    for (const bond of empty) if (this.#bonds.delete(bond)) this.#onEmpty(bond);
    if (this.#bonds.size === 0) return;
    const unchanged = empty.length === 0 && this.#bonds.size === asked.length;
    this.#schedule(unchanged ? Math.min(this.#intervalMs * 2, MAX_INTERVAL_MS) : MIN_INTERVAL_MS);
  }

  /** Who cannot be looked for is not gone, and is looked for again. */
  async #look(asked: readonly Bond[]): Promise<ReadonlySet<Bond>> {
    try {
      return await this.#findLiving(asked);
    } catch {
      return new Set(asked);
    }
  }
}

/**
 * Every session and group that has a member. Their numbers are not given to a new process while one member lives, and may
 * be at any time after that; whoever remembers one must forget it then. One walk of the process table answers for all of
 * them, so the cost does not grow with the number of ended children.
 * @param onProcess called for each process that is seen
 */
export async function collectLeaders(onProcess?: (pid: number) => void): Promise<Set<number>> {
  const leaders = new Set<number>();
  let untilTurn = ENTRIES_PER_TURN;
  for (const [pid, { pgid, sid }] of platform === 'linux' ? scanProc() : readProcessTable()) {
    leaders.add(pgid).add(sid);
    onProcess?.(pid);
    untilTurn -= 1;
    if (untilTurn > 0) continue;
    untilTurn = ENTRIES_PER_TURN;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return leaders;
}
