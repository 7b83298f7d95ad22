import type { Clock } from '../../src/clock.js';

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ at: number; task: () => void }>();

  /** Timers that have neither run nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, task: () => void): { cancel(): void } {
    const timer = { at: this.#now + delayMs, task };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Moves time on and runs what is due, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = due.at;
      due.task();
    }
    this.#now = until;
  }
}
