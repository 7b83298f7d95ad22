const MIN_DELAY_MS = 1;
const MAX_DELAY_MS = 32;

/** Repeats an attempt that nothing announces: after 1 ms, then 2, up to 32, until a success resets it. */
export class BackOff {
  readonly #attempt: () => void;
  #delayMs = MIN_DELAY_MS;
  #timer: NodeJS.Timeout | null = null;

  constructor(attempt: () => void) {
    this.#attempt = attempt;
  }

  later(): void {
    this.cancel();
    this.#timer = setTimeout(this.#attempt, this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
  }

  reset(): void {
    this.#delayMs = MIN_DELAY_MS;
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
