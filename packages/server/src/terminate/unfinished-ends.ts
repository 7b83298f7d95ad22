import type { SignalOutcome, TreeRoot } from './kill-trees.js';

/** Time until an end that failed is tried again, in milliseconds; then each time twice as long. */
const FIRST_RETRY_MS = 10;
/** Longest time between two attempts, in milliseconds. */
const MAX_RETRY_MS = 1_000;

/** One attempt to end trees. `failure` says that somebody may have been overlooked. */
export interface EndAttempt extends SignalOutcome {
  readonly failure?: unknown;
}

/**
 * Trees that somebody may be left of, because a look at the processes failed: the system was out of memory, or out of
 * descriptors beyond the reserve. They are ended again, all by one look, until a look succeeds.
 */
export class UnfinishedEnds {
  readonly #attempt: (roots: readonly TreeRoot[]) => EndAttempt;
  readonly #roots = new Set<TreeRoot>();
  readonly #waiting: ((outcome: SignalOutcome) => void)[] = [];
  #retryMs = FIRST_RETRY_MS;

  constructor(attempt: (roots: readonly TreeRoot[]) => EndAttempt) {
    this.#attempt = attempt;
  }

  /** Resolves with whom the attempt reached that succeeded, whosesoever tree they are of. Never rejects. */
  add(roots: readonly TreeRoot[]): Promise<SignalOutcome> {
    for (const root of roots) this.#roots.add(root);
    if (this.#waiting.length === 0) this.#retryLater();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #retryLater(): void {
    setTimeout(() => this.#retry(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  #retry(): void {
    const { failure, ...outcome } = this.#attempt([...this.#roots]);
    if (failure !== undefined) {
      this.#retryLater();
      return;
    }
    this.#retryMs = FIRST_RETRY_MS;
    this.#roots.clear();
    for (const resolve of this.#waiting.splice(0)) resolve(outcome);
  }
}
