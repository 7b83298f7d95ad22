import type { Transport } from './transport.js';

/** Who wants reading stopped; it goes on when nobody does. */
type PauseReason = 'owner' | 'flood' | 'turn';

/** Lets several parties pause one transport without one resuming it over the other's head. */
export class InboundValve {
  readonly #transport: Transport;
  readonly #reasons = new Set<PauseReason>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  pause(reason: PauseReason): void {
    this.#reasons.add(reason);
    this.#transport.pause();
  }

  resume(reason: PauseReason): void {
    if (this.#reasons.delete(reason) && this.#reasons.size === 0) this.#transport.resume();
  }

  isPausedFor(reason: PauseReason): boolean {
    return this.#reasons.has(reason);
  }
}
