// A run is a list of parts. Each has a time limit, and so has the run: one that is stuck is named and given up.

/** Longest time of one part; a healthy one takes a tenth of it. */
const PART_LIMIT_MS = 120_000;

export class Parts {
  #startedAt = performance.now();
  #runLimitMs;
  #cleanUp;
  #detail = '';
  /** What could not be measured: `{ name, reason }`. */
  failures = [];

  /**
   * @param runLimitMs limit of the whole run
   * @param cleanUp called after a part that failed: ends whatever it left running
   */
  constructor(runLimitMs, cleanUp) {
    this.#runLimitMs = runLimitMs;
    this.#cleanUp = cleanUp;
  }

  get elapsedMs() {
    return performance.now() - this.#startedAt;
  }

  /** Says what the current part is at, for the message if it gets stuck there. */
  note(detail) {
    this.#detail = detail;
  }

  /** Returns what `work` resolves with, or undefined when it failed or took too long. */
  async run(name, work) {
    this.#detail = '';
    const left = this.#runLimitMs - this.elapsedMs;
    if (left <= 0) {
      this.#fail(name, `not begun: the run was to take ${this.#runLimitMs / 1000} s at most`);
      return undefined;
    }
    process.stderr.write(`${(this.elapsedMs / 1000).toFixed(0).padStart(4)} s  ${name}\n`);
    try {
      return await withinLimit(work(), Math.min(PART_LIMIT_MS, left));
    } catch (error) {
      this.#fail(name, [this.#detail, error.message].filter(Boolean).join(': '));
      await this.#cleanUp();
      return undefined;
    }
  }

  #fail(name, reason) {
    process.stderr.write(`        ${name}: ${reason}\n`);
    this.failures.push({ name, reason });
  }
}

/** Rejects when `promise` takes longer. */
export async function withinLimit(promise, limitMs) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`stuck, given up after ${Math.round(limitMs / 1000)} s`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
