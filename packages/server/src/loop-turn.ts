import { setImmediate } from 'node:timers/promises';

/** Longest that work which others make large goes on before everybody else gets a turn, in milliseconds. */
const TURN_MS = 4;
/** Checks between two looks at the time, which cost more than most steps. */
const CHECKS_PER_LOOK = 16;

/** Keeps long work from holding up the loop: it asks after every step whether its turn is over. */
export class LoopTurn {
  #checks = 0;
  #since = performance.now();

  /** Whether others have waited long enough; {@link pause} is next then. */
  get isOver(): boolean {
    if (++this.#checks % CHECKS_PER_LOOK !== 0) return false;
    return performance.now() - this.#since >= TURN_MS;
  }

  /** Resolves when everybody else has had a turn. */
  async pause(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
