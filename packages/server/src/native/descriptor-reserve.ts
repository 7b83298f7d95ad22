import { closeSync, openSync } from 'node:fs';
import { platform } from 'node:process';

/**
 * Descriptors that are held back for ends. One serves where a look is one open file after the other; beside those that
 * threads of the process may snatch. Elsewhere a look is a run of `ps`, which takes more.
 */
export const RESERVED_DESCRIPTORS = platform === 'linux' ? 4 : 16;

/** Time after which a reserve that others took from is filled again, as far as it can be, in milliseconds. */
const REFILL_MS = 1_000;

/** What an open that found no free descriptor says: the limit of the process, and that of the system. */
const NONE_LEFT: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

/**
 * Descriptors that this process holds open for nothing, so that it can end processes when clients have taken all others.
 * They belong to the process as a whole: all launchers share one reserve, which exists while one of them does.
 */
class DescriptorReserve {
  readonly #held: number[] = [];
  #holders = 0;
  #refillTimer: NodeJS.Timeout | null = null;

  /** Keeps the reserve until the returned function is called. */
  hold(): () => void {
    this.#holders += 1;
    this.#refill();
    let holding = true;
    return () => {
      if (!holding) return;
      holding = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#release();
    };
  }

  /**
   * Runs a call that opens files and closes them again, and repeats it with descriptors of the reserve where there are no
   * others. Throws what the call throws when the reserve does not help either.
   */
  use<Result>(call: () => Result): Result {
    try {
      return call();
    } catch (error) {
      if (!isNoneLeft(error)) throw error;
      return this.#repeat(call, error);
    }
  }

  /** Another thread may take what was released, so that one after the other is. */
  #repeat<Result>(call: () => Result, failure: unknown): Result {
    let last = failure;
    try {
      for (let fd = this.#held.pop(); fd !== undefined; fd = this.#held.pop()) {
        closeSync(fd);
        try {
          return call();
        } catch (error) {
          if (!isNoneLeft(error)) throw error;
          last = error;
        }
      }
    } finally {
      this.#refill();
    }
    throw last;
  }

  #refill(): void {
    try {
      while (this.#holders > 0 && this.#held.length < RESERVED_DESCRIPTORS)
        this.#held.push(openSync('/dev/null', 'r'));
    } catch {
      this.#refillTimer ??= setTimeout(() => {
        this.#refillTimer = null;
        this.#refill();
      }, REFILL_MS).unref();
    }
  }

  #release(): void {
    if (this.#refillTimer !== null) clearTimeout(this.#refillTimer);
    this.#refillTimer = null;
    for (const fd of this.#held.splice(0)) closeSync(fd);
  }
}

function isNoneLeft(error: unknown): boolean {
  return NONE_LEFT.has((error as NodeJS.ErrnoException).code);
}

export const descriptorReserve = new DescriptorReserve();
