import type { Clock, ClockTimer } from '../clock.js';
import { isSamePrincipal, type Principal } from '../listen/principal.js';
import type { ProcessRegistry, ProcessSlot } from './process-registry.js';

/** How long and how much of what has closed is kept. */
export interface ClosedProcessLimits {
  /** How long a closed process stays readable and its id taken. */
  readonly retentionMs: number;
  /** Output of closed processes kept in all; the oldest go first, before their time. */
  readonly outputBytes: number;
}

interface Kept {
  readonly bytes: number;
  readonly timer: ClockTimer;
}

/** Processes that have closed and can still be read. Many short ones must not add up to more than the server can hold. */
export class ClosedProcesses {
  readonly #kept = new Map<ProcessSlot, Kept>();
  #bytes = 0;

  constructor(
    private readonly registry: ProcessRegistry,
    private readonly clock: Clock,
    private readonly limits: ClosedProcessLimits,
  ) {}

  /** How many can still be read. */
  get count(): number {
    return this.#kept.size;
  }

  /** Bytes of output that are kept for processes that have closed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Both of one principal. */
  measureFor(principal: Principal): { readonly count: number; readonly bytes: number } {
    let count = 0;
    let bytes = 0;
    for (const [slot, kept] of this.#kept) {
      if (!isSamePrincipal(slot.principal, principal)) continue;
      count++;
      bytes += kept.bytes;
    }
    return { count, bytes };
  }

  add(slot: ProcessSlot, bytes: number): void {
    const timer = this.clock.after(this.limits.retentionMs, () => this.#forget(slot));
    this.#kept.set(slot, { bytes, timer });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.limits.outputBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(slot: ProcessSlot): void {
    const kept = this.#kept.get(slot);
    if (kept === undefined) return;
    this.#kept.delete(slot);
    this.#bytes -= kept.bytes;
    kept.timer.cancel();
    this.registry.forget(slot);
  }
}
