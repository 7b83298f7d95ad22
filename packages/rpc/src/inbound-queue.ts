import { Fifo } from './fifo.js';
import type { InboundValve } from './inbound-valve.js';
import type { WorkSlices } from './work-slices.js';

/** What is done about something that a transport has told. False when it goes on in the next turn. */
export type InboundStep = () => unknown;

/**
 * What a transport has told and nobody has had the time to look at, in order. A read may bring hundreds of messages, each
 * of which starts a program: they are taken in slices, and nothing more is read while some are left.
 */
export class InboundQueue {
  readonly #slices: WorkSlices | undefined;
  readonly #valve: InboundValve;
  readonly #steps = new Fifo<InboundStep>();
  /** The step that has begun and goes on. */
  #begun: InboundStep | undefined;
  #isDue = false;

  /** Without slices everything is taken at once, and a step that goes on is called again at once. */
  constructor(slices: WorkSlices | undefined, valve: InboundValve) {
    this.#slices = slices;
    this.#valve = valve;
  }

  /** Whether what comes now has to wait. */
  get isBusy(): boolean {
    return this.#slices !== undefined && (this.#isDue || !this.#slices.hasTime);
  }

  /** Takes `step` now or, in its place, later. */
  add(step: InboundStep): void {
    if (!this.isBusy) {
      this.#begun = step;
      if (this.#takeBegun()) return;
    } else this.#steps.push(step);
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

  /** Drops what waits, and what goes on. */
  clear(): void {
    this.#steps.clear();
    this.#begun = undefined;
  }

  readonly #takeSlice = (): void => {
    do {
      this.#begun ??= this.#steps.shift();
      if (this.#begun === undefined) {
        this.#isDue = false;
        this.#valve.resume('turn');
        return;
      }
    } while (this.#slices?.hasTime && this.#takeBegun());
    this.#slices?.defer(this.#takeSlice);
  };

  /** False when it goes on in the next turn. */
  #takeBegun(): boolean {
    const step = this.#begun;
    this.#begun = undefined;
    while (step?.() === false) {
      if (this.#slices === undefined) continue;
      this.#begun = step;
      return false;
    }
    return true;
  }
}
