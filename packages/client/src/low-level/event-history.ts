import { bytesOf, firstSeqOf, lastSeqOf, type SequencedEvent } from './sequenced-event.js';

/** Most events that are kept for those who listen late or slowly. */
export const MAX_HISTORY_EVENTS = 256;

/** Most bytes of output that are kept for them. */
export const MAX_HISTORY_BYTES = 1024 * 1024;

/** The newest events of one process, in order and without a hole. */
export class EventHistory {
  #events: SequencedEvent[] = [];
  /** For each event, the bytes of all that were ever appended before it. */
  #offsets: number[] = [];
  #appendedBytes = 0;
  #bytes = 0;
  #lastSeq: number;

  constructor(lastSeq: number) {
    this.#lastSeq = lastSeq;
  }

  /** Number of the newest event. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Number of the oldest event that is kept, or of the next one when none is. */
  get firstSeq(): number {
    const oldest = this.#events[0];
    return oldest === undefined ? this.#lastSeq + 1 : firstSeqOf(oldest);
  }

  /** Whether something has to be let go. */
  get isOverfull(): boolean {
    return this.#events.length > MAX_HISTORY_EVENTS || this.#bytes > MAX_HISTORY_BYTES;
  }

  append(event: SequencedEvent): void {
    this.#events.push(event);
    this.#offsets.push(this.#appendedBytes);
    this.#appendedBytes += bytesOf(event);
    this.#bytes += bytesOf(event);
    this.#lastSeq = lastSeqOf(event);
  }

  /** Lets the oldest go until the rest is within bounds, but none beyond `neededAfter`, which somebody waits for. */
  trim(neededAfter = Number.POSITIVE_INFINITY): void {
    let dropped = 0;
    for (const event of this.#events) {
      const rest = this.#events.length - dropped;
      if (rest <= MAX_HISTORY_EVENTS && this.#bytes <= MAX_HISTORY_BYTES) break;
      if (lastSeqOf(event) > neededAfter) break;
      this.#bytes -= bytesOf(event);
      dropped++;
    }
    if (dropped === 0) return;
    this.#events = this.#events.slice(dropped);
    this.#offsets = this.#offsets.slice(dropped);
  }

  /** Bytes of the events with a number beyond `seq` that are kept. */
  bytesAfter(seq: number): number {
    if (seq >= this.#lastSeq) return 0;
    return this.#appendedBytes - (this.#offsets[this.#indexAfter(seq)] ?? this.#appendedBytes);
  }

  /** The first event with a number beyond `seq`, if it has happened and is kept. */
  after(seq: number): SequencedEvent | undefined {
    if (seq >= this.#lastSeq || seq + 1 < this.firstSeq) return undefined;
    return this.#events[this.#indexAfter(seq)];
  }

  #indexAfter(seq: number): number {
    let low = 0;
    let high = this.#events.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lastSeqOf(this.#events[middle] as SequencedEvent) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
