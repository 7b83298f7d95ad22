import type { Clock } from '../../src/clock.js';

interface PendingTimer {
  readonly delayMs: number;
  readonly at: number;
  readonly task: () => void;
}

/** A clock that stands still until a test has somebody's time elapse. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<PendingTimer>();
  readonly #waiters = new Set<() => void>();

  now(): number {
    return this.#now;
  }

  after(delayMs: number, task: () => void): { cancel(): void } {
    const timer = { delayMs, at: this.#now + delayMs, task };
    this.#timers.add(timer);
    for (const waiter of Array.from(this.#waiters)) waiter();
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Waits until `count` timers of this length run. */
  async started(delayMs: number, count = 1): Promise<void> {
    await new Promise<void>((resolve) => {
      const check = () => {
        if ([...this.#timers].filter((timer) => timer.delayMs === delayMs).length < count) return;
        this.#waiters.delete(check);
        resolve();
      };
      this.#waiters.add(check);
      check();
    });
  }

  /** Waits until somebody waits exactly so long, and has that time pass. */
  async elapse(delayMs: number): Promise<void> {
    await this.started(delayMs);
    this.advance(delayMs);
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
