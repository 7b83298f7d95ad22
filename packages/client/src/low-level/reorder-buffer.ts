import { bytesOf, firstSeqOf, lastSeqOf, type SequencedEvent } from './sequenced-event.js';

/** Most events that wait for an earlier one. */
export const MAX_PENDING_EVENTS = 256;

/** Most bytes of output that wait for an earlier event, and most in any event. */
export const MAX_PENDING_BYTES = 1024 * 1024;

/** How much may wait for an earlier event. */
export interface PendingLimits {
  readonly events: number;
  readonly bytes: number;
}

const PENDING_LIMITS: PendingLimits = { events: MAX_PENDING_EVENTS, bytes: MAX_PENDING_BYTES };

/** The same while the log is read: a server pushes on meanwhile, up to what its connection holds. */
export const CATCH_UP_LIMITS: PendingLimits = { events: 65_536, bytes: 16 * 1024 * 1024 };

/** Why an event was not taken. */
export class ReorderOverflowError extends Error {
  override readonly name = 'ReorderOverflowError';
}

/**
 * Puts the events of one process into order. Those that come early wait, within bounds, for the ones before them; those
 * that come twice are taken once.
 */
export class ReorderBuffer {
  /** Events beyond a hole, by the number they begin with. */
  readonly #pending = new Map<number, SequencedEvent>();
  #pendingBytes = 0;
  #lastSeq: number;

  constructor(lastSeq: number) {
    this.#lastSeq = lastSeq;
  }

  /** Number of the last event that was handed on. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get pendingEvents(): number {
    return this.#pending.size;
  }

  /** Number of the first event beyond the hole; absent without one. */
  get firstPendingSeq(): number | undefined {
    let first: number | undefined;
    for (const seq of this.#pending.keys()) if (first === undefined || seq < first) first = seq;
    return first;
  }

  has(seq: number): boolean {
    return this.#pending.has(seq);
  }

  /** Whether the end of the process is among those that wait. */
  get holdsExit(): boolean {
    for (const { type } of this.#pending.values()) if (type === 'exited') return true;
    return false;
  }

  /**
   * Takes an event and returns all that are in order now. The one that closes the hole always fits.
   *
   * @throws ReorderOverflowError
   */
  push(event: SequencedEvent, limits = PENDING_LIMITS): SequencedEvent[] {
    if (bytesOf(event) > MAX_PENDING_BYTES)
      throw new ReorderOverflowError(`process event exceeds ${MAX_PENDING_BYTES} bytes`);
    const next = this.#clip(event);
    if (next === undefined || this.#pending.has(firstSeqOf(next))) return [];
    if (firstSeqOf(next) === this.#lastSeq + 1) return [next, ...this.#advance(next)];
    this.#hold(next, limits);
    return [];
  }

  /** Forgets what waits; it has to come again. */
  clear(): void {
    this.#pending.clear();
    this.#pendingBytes = 0;
  }

  /** The part of an event that was not handed on yet. */
  #clip(event: SequencedEvent): SequencedEvent | undefined {
    if (lastSeqOf(event) <= this.#lastSeq) return undefined;
    if (event.type !== 'gap' || event.fromSeq > this.#lastSeq) return event;
    return { ...event, fromSeq: this.#lastSeq + 1 };
  }

  #hold(event: SequencedEvent, limits: PendingLimits): void {
    if (this.#pending.size >= limits.events)
      throw new ReorderOverflowError(`process event reorder buffer exceeds ${limits.events} entries`);
    if (this.#pendingBytes + bytesOf(event) > limits.bytes)
      throw new ReorderOverflowError(`process event reorder buffer exceeds ${limits.bytes} bytes`);
    this.#pending.set(firstSeqOf(event), event);
    this.#pendingBytes += bytesOf(event);
  }

  /** Moves past `event` and whatever follows it without a hole, which is returned. */
  #advance(event: SequencedEvent): SequencedEvent[] {
    this.#lastSeq = lastSeqOf(event);
    if (this.#pending.size === 0) return [];
    if (event.type === 'gap') this.#dropCovered();
    const ready: SequencedEvent[] = [];
    for (;;) {
      const following = this.#pending.get(this.#lastSeq + 1);
      if (following === undefined) return ready;
      this.#release(following);
      this.#lastSeq = lastSeqOf(following);
      ready.push(following);
    }
  }

  #dropCovered(): void {
    for (const event of Array.from(this.#pending.values())) {
      if (firstSeqOf(event) <= this.#lastSeq) this.#release(event);
    }
  }

  #release(event: SequencedEvent): void {
    this.#pending.delete(firstSeqOf(event));
    this.#pendingBytes -= bytesOf(event);
  }
}
