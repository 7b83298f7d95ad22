/** Over how long the load is looked at, in milliseconds: one collection by itself says nothing. */
export const WINDOW_MS = 100;

/** Share of the time from which on collecting is a load. Starting processes takes half of it, carrying bytes more. */
export const HEAVY_SHARE = 0.04;

/** Share of the time up to which it is none any more. What was given more room for a load has less of it thereby. */
export const LIGHT_SHARE = 0.01;

/** How much of the time goes into collecting garbage. */
export class CollectionLoad {
  #windowStart: number;
  #spentMs = 0;
  #isHeavy = false;

  /** @param nowMs when it begins, on the clock of the collections */
  constructor(nowMs: number) {
    this.#windowStart = nowMs;
  }

  /** Whether it is much, by the window that ended last. */
  get isHeavy(): boolean {
    return this.#isHeavy;
  }

  /** Takes note of a collection. Times are in milliseconds, and in order. */
  add(startMs: number, durationMs: number): void {
    const elapsed = startMs + durationMs - this.#windowStart;
    this.#spentMs += durationMs;
    if (elapsed < WINDOW_MS) return;
    this.#isHeavy = this.#spentMs / elapsed >= (this.#isHeavy ? LIGHT_SHARE : HEAVY_SHARE);
    this.#windowStart += elapsed;
    this.#spentMs = 0;
  }
}
