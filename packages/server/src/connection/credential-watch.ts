import type { Clock, ClockTimer } from '../clock.js';

/**
 * Longest time between two looks, in milliseconds. A credential ends by the clock on the wall, which may be set, and which
 * goes on while the machine sleeps; timers do neither.
 */
const LOOK_INTERVAL_MS = 60_000;

/** Notices when the credential of a connection is no longer good. */
export class CredentialWatch {
  #timer: ClockTimer | undefined;

  /** `leftMs` says how long it is still good, in milliseconds; not positive once it is over. */
  constructor(
    private readonly leftMs: () => number,
    private readonly clock: Clock,
    private readonly onEnd: () => void,
  ) {
    this.#schedule(leftMs());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    const leftMs = this.leftMs();
    if (leftMs > 0) this.#schedule(leftMs);
    else this.onEnd();
  }

  #schedule(leftMs: number): void {
    this.#timer = this.clock.after(Math.min(Math.max(0, leftMs), LOOK_INTERVAL_MS), () => this.#look());
  }
}
