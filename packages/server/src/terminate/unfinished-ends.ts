import type { SignalOutcome, TreeRoot } from './kill-trees.js';

/** Time until an end that failed is tried again, in milliseconds; then each time twice as long. */
const FIRST_RETRY_MS = 10;
/** Longest time between two attempts, in milliseconds. */
const MAX_RETRY_MS = 1_000;

/** One attempt to end trees. `failure` says that somebody may have been overlooked. */
export interface EndAttempt extends Pick<SignalOutcome, 'pids' | 'refusal'> {
  readonly failure?: unknown;
  /** Resolves when the cgroups of the trees are empty or given up, with what went wrong if somebody may be left in one. */
  readonly emptied?: Promise<unknown> | undefined;
}

/**
 * Trees that somebody may be left of, because a look at the processes failed: the system was out of memory, or out of
 * descriptors beyond the reserve. They are ended again, all by one look, until a look succeeds.
 */
export class UnfinishedEnds {
  readonly #attempt: (roots: readonly TreeRoot[]) => EndAttempt;
  readonly #roots = new Set<TreeRoot>();
  #waiting: ((outcome: SignalOutcome) => void)[] = [];
  #isDue = false;
  #retryMs = FIRST_RETRY_MS;

  constructor(attempt: (roots: readonly TreeRoot[]) => EndAttempt) {
    this.#attempt = attempt;
  }

  /** Resolves with whom the attempt reached that succeeded, whosesoever tree they are of. Never rejects. */
  add(roots: readonly TreeRoot[]): Promise<SignalOutcome> {
    for (const root of roots) this.#roots.add(root);
    this.#retryLater();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #retryLater(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => void this.#retry(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  async #retry(): Promise<void> {
    const roots = [...this.#roots];
    const waiting = [...this.#waiting];
    const { failure, emptied, ...outcome } = this.#attempt(roots);
    const problem = failure ?? (await emptied);
    this.#isDue = false;
    if (problem === undefined) {
      this.#retryMs = FIRST_RETRY_MS;
      for (const root of roots) this.#roots.delete(root);
      // Those that came meanwhile wait for an attempt of their own.
      this.#waiting = this.#waiting.slice(waiting.length);
      for (const resolve of waiting) resolve(outcome);
    }
    if (this.#waiting.length > 0) this.#retryLater();
  }
}
