import type { Clock, ClockTimer } from '../clock.js';
import { isSamePrincipal, type Principal } from '../listen/principal.js';
import type { ProcessRegistry, ProcessSlot } from './process-registry.js';

/** How long and how much of what has closed is kept. */
export interface ClosedProcessLimits {
  /** How long a closed process stays readable and its id taken, unless it was started to be kept for longer. */
  readonly retentionMs: number;
  /** Bytes of closed processes kept in all; the output of the oldest goes first, then what is known of them. */
  readonly outputBytes: number;
  /** Closed processes kept in all; the oldest are forgotten before their time. */
  readonly count: number;
}

/** A process that has closed. */
export interface ClosedProcess {
  /** Bytes of its output in memory. */
  readonly outputBytes: number;
  /** Bytes of everything else that is known of it. */
  readonly descriptionBytes: number;
  /** How long it is to be kept at least, in milliseconds. */
  readonly keepAliveMs: number;
  /** Lets its output go. */
  dropOutput(): void;
}

interface Kept {
  readonly process: ClosedProcess;
  readonly timer: ClockTimer;
  bytes: number;
}

/**
 * Processes that have closed and can still be asked about. Many must not add up to more than the server can hold: outputs
 * go before outcomes.
 */
export class ClosedProcesses {
  /** Oldest first. */
  readonly #kept = new Map<ProcessSlot, Kept>();
  /** Those of them whose output is still there, oldest first. */
  readonly #withOutput = new Map<ProcessSlot, Kept>();
  #bytes = 0;

  constructor(
    private readonly registry: ProcessRegistry,
    private readonly clock: Clock,
    private readonly limits: ClosedProcessLimits,
  ) {}

  /** How many can still be asked about. */
  get count(): number {
    return this.#kept.size;
  }

  /** Bytes that are kept for processes that have closed. */
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

  add(slot: ProcessSlot, process: ClosedProcess): void {
    const keepMs = Math.max(this.limits.retentionMs, process.keepAliveMs);
    const timer = this.clock.after(keepMs, () => this.remove(slot));
    const kept = { process, timer, bytes: process.outputBytes + process.descriptionBytes };
    this.#kept.set(slot, kept);
    if (process.outputBytes > 0) this.#withOutput.set(slot, kept);
    this.#bytes += kept.bytes;
    this.#makeRoom();
  }

  /** Forgets a closed process. False when there is none. */
  remove(slot: ProcessSlot): boolean {
    const kept = this.#kept.get(slot);
    if (kept === undefined) return false;
    this.#kept.delete(slot);
    this.#withOutput.delete(slot);
    this.#bytes -= kept.bytes;
    kept.timer.cancel();
    this.registry.forget(slot);
    return true;
  }

  #makeRoom(): void {
    for (const [slot, kept] of this.#withOutput) {
      if (this.#bytes <= this.limits.outputBytes) break;
      this.#withOutput.delete(slot);
      kept.process.dropOutput();
      kept.bytes -= kept.process.outputBytes;
      this.#bytes -= kept.process.outputBytes;
    }
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.limits.outputBytes && this.#kept.size <= this.limits.count) return;
      this.remove(oldest);
    }
  }
}
