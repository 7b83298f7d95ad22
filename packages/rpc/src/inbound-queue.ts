import { Fifo } from './fifo.js';
import type { InboundValve } from './inbound-valve.js';
import type { WorkSlices } from './work-slices.js';

/**
 * What a transport has told and nobody has had the time to look at, in order. A read may bring hundreds of messages, each
 * of which starts a program: they are taken in slices, and nothing more is read while some are left.
 */
export class InboundQueue {
  readonly #slices: WorkSlices | undefined;
  readonly #valve: InboundValve;
  readonly #steps = new Fifo<() => void>();
  #isDue = false;

  /** Without slices everything is taken at once. */
  constructor(slices: WorkSlices | undefined, valve: InboundValve) {
    this.#slices = slices;
    this.#valve = valve;
  }

  /** Whether what comes now has to wait. */
  get isBusy(): boolean {
    return this.#slices !== undefined && (this.#steps.length > 0 || !this.#slices.hasTime);
  }

  /** Takes `step` now or, in its place, later. */
  add(step: () => void): void {
    if (!this.isBusy) {
      step();
      return;
    }
    this.#steps.push(step);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#slices?.defer(this.#takeSlice);
    // Not at once: what the transport has read already is delivered faster while it is not paused.
    queueMicrotask(() => {
      if (this.#isDue) this.#valve.pause('turn');
    });
  }

  /** Takes `step` once nothing waits for its turn any more, neither here nor elsewhere in the same slices. */
  addLast(step: () => void): void {
    if (this.#slices === undefined || this.#slices.isIdle) step();
    else this.#slices.defer(() => this.addLast(step));
  }

  /** Drops what waits. */
  clear(): void {
    this.#steps.clear();
  }

  readonly #takeSlice = (): void => {
    while (this.#steps.length > 0 && this.#slices?.hasTime) this.#steps.shift()?.();
    if (this.#steps.length > 0) {
      this.#slices?.defer(this.#takeSlice);
      return;
    }
    this.#isDue = false;
    this.#valve.resume('turn');
  };
}
