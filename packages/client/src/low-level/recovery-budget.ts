import type { ReconnectOptions } from './client-options.js';

const DEFAULT_DEADLINE_MS = 25_000;
const DEFAULT_MIN_DELAY_MS = 100;
const DEFAULT_MAX_DELAY_MS = 5_000;

/** How much of a wait is left to chance, so that clients of one server do not come back all at once. */
const JITTER = 0.5;

/**
 * The time that getting a session back may take, and the waits between attempts. Only time spent recovering counts;
 * progress gives it all back, so that a connection that keeps breaking is given up only if nothing ever comes through.
 */
export class RecoveryBudget {
  readonly #deadlineMs: number;
  readonly #minDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #now: () => number;
  readonly #random: () => number;
  #spentMs = 0;
  #startedAt: number | undefined;
  #attempts = 0;

  constructor(options: ReconnectOptions, now = () => performance.now(), random = Math.random) {
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    this.#minDelayMs = options.minDelayMs ?? DEFAULT_MIN_DELAY_MS;
    this.#maxDelayMs = options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS;
    this.#now = now;
    this.#random = random;
  }

  /** Time left, in milliseconds. */
  get remainingMs(): number {
    const running = this.#startedAt === undefined ? 0 : this.#now() - this.#startedAt;
    return Math.max(0, this.#deadlineMs - this.#spentMs - running);
  }

  /** Starts the clock. */
  begin(): void {
    this.#startedAt ??= this.#now();
  }

  /** Stops the clock. */
  finish(): void {
    if (this.#startedAt === undefined) return;
    this.#spentMs += this.#now() - this.#startedAt;
    this.#startedAt = undefined;
  }

  /** Something came through. */
  refill(): void {
    this.#spentMs = 0;
    this.#attempts = 0;
  }

  /** Wait before the next attempt, in milliseconds; absent when no time is left for one. */
  nextDelayMs(): number | undefined {
    const full = Math.min(this.#maxDelayMs, this.#minDelayMs * 2 ** this.#attempts++);
    const delay = full * (1 - JITTER * this.#random());
    return delay < this.remainingMs ? delay : undefined;
  }
}
