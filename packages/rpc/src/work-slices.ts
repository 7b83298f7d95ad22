/** Shortest slice, in milliseconds: one step of most work takes less. */
const MIN_SLICE_MS = 1;

/** A turn of the event loop, as far as those who have more to do than fits into one share it. */
export class SharedTurn {
  readonly #longestMs: number;
  /** How many have work that waits for the next turn. */
  busy = 0;

  /** `longestMs` is what all of them take together of one turn; whoever comes to an empty turn may take all of it. */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Milliseconds that one of them has now. */
  get sliceMs(): number {
    return Math.max(MIN_SLICE_MS, this.#longestMs / Math.max(1, this.busy));
  }
}

/** Where the turns of the event loop come from, so that a test can take them one by one. */
export interface WorkSliceOptions {
  readonly turn: SharedTurn;
  /** Milliseconds since some fixed point. */
  now(): number;
  /** Calls back later in this turn or, from such a callback, in the next one, as `setImmediate` does. */
  nextTurn(callback: () => void): void;
}

/**
 * The share of each turn of the event loop that one party may take: whoever has more to do asks between its steps whether
 * there is time left, and otherwise goes on in the next turn. Each party has slices of its own, so that one that takes all
 * of its time takes nothing from those that need little.
 */
export class WorkSlices {
  readonly #options: WorkSliceOptions;
  #endsAt: number | undefined;
  /** Whether the slice began where the loop has yet to look for what else has come in. */
  #mustWait = false;
  #inTurn = false;
  #first: (() => void)[] = [];
  #deferred: (() => void)[] = [];

  constructor(options: WorkSliceOptions) {
    this.#options = options;
  }

  /** Whether another step may begin in this turn. Whoever is first to ask begins the slice. */
  get hasTime(): boolean {
    const now = this.#options.now();
    this.#endsAt ??= this.#beginSlice(now);
    return now < this.#endsAt;
  }

  /** Whether nothing waits for the next turn. */
  get isIdle(): boolean {
    return this.#first.length + this.#deferred.length === 0;
  }

  /** Calls `step` now, or when there is time for it. */
  run(step: () => void): void {
    if (this.hasTime) step();
    else this.defer(() => this.run(step));
  }

  /** Calls `work` in the next turn, after those that were deferred before it. */
  defer(work: () => void): void {
    this.#add(this.#deferred, work);
  }

  /** Calls `work` in the next turn, before what {@link defer} was given. */
  deferFirst(work: () => void): void {
    this.#add(this.#first, work);
  }

  #add(list: (() => void)[], work: () => void): void {
    if (this.isIdle) this.#options.turn.busy++;
    list.push(work);
    this.#endsAt ??= this.#beginSlice(this.#options.now());
  }

  #beginSlice(now: number): number {
    this.#mustWait = !this.#inTurn;
    this.#options.nextTurn(this.#endTurn);
    return now + this.#options.turn.sliceMs;
  }

  readonly #endTurn = (): void => {
    if (!this.isIdle && this.#mustWait) {
      this.#mustWait = false;
      this.#options.nextTurn(this.#endTurn);
      return;
    }
    this.#endsAt = undefined;
    if (this.isIdle) return;
    this.#options.turn.busy--;
    const due = [...this.#first, ...this.#deferred];
    this.#first = [];
    this.#deferred = [];
    this.#inTurn = true;
    try {
      for (const work of due) work();
    } finally {
      this.#inTurn = false;
    }
  };
}
