import { Fifo } from './fifo.js';
import type { InboundValve } from './inbound-valve.js';
import type { WorkSlices } from './work-slices.js';

/** Something that a transport has told, and what is to be done about it. */
interface Arrival {
  /** False when it goes on in the next turn. */
  readonly take: () => unknown;
  /** Called when nothing is to be done about it any more, begun or not. */
  readonly drop: (() => void) | undefined;
}

/**
 * What a transport has told and nobody has had the time to look at, in order. A read may bring hundreds of messages, each
 * of which starts a program: they are taken in slices, and nothing more is read while some are left.
 */
export class InboundQueue {
  readonly #slices: WorkSlices | undefined;
  readonly #valve: InboundValve;
  readonly #waiting = new Fifo<Arrival>();
  /** What has begun and goes on. */
  #begun: Arrival | undefined;
  #isDue = false;

  /** Without slices everything is taken at once, and what goes on does so at once. */
  constructor(slices: WorkSlices | undefined, valve: InboundValve) {
    this.#slices = slices;
    this.#valve = valve;
  }

  /** Whether what comes now has to wait. */
  get isBusy(): boolean {
    return this.#slices !== undefined && (this.#isDue || !this.#slices.hasTime);
  }

  /**
   * Calls `take` now or, in its place, later; again in the next turn when it returns false.
   * @param drop is called instead when nothing is to be done any more, begun or not
   */
  add(take: () => unknown, drop?: () => void): void {
    if (this.isBusy) this.#waiting.push({ take, drop });
    else if (this.#take(take)) return;
    else this.#begun = { take, drop };
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
    this.#begun?.drop?.();
    this.#begun = undefined;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next.drop?.();
  }

  readonly #takeSlice = (): void => {
    while (this.#slices?.hasTime) {
      const next = this.#begun ?? this.#waiting.shift();
      this.#begun = undefined;
      if (next === undefined) {
        this.#isDue = false;
        this.#valve.resume('turn');
        return;
      }
      if (this.#take(next.take)) continue;
      this.#begun = next;
      break;
    }
    this.#slices?.defer(this.#takeSlice);
  };

  /** False when it goes on in the next turn. */
  #take(take: () => unknown): boolean {
    while (take() === false) if (this.#slices !== undefined) return false;
    return true;
  }
}
