import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { LaggedError } from '../errors.js';
import type { FailedEvent, ProcessEvent } from '../process-event.js';
import type { EventHistory } from './event-history.js';
import { firstSeqOf, lastSeqOf, type SequencedEvent } from './sequenced-event.js';

/** Older events as the server's log still has them. */
export type ReadOlder = (afterSeq: number) => Promise<readonly SequencedEvent[]>;

/** What an iterator reads from. */
export interface EventSource {
  /** Events up to this one were known before the process was followed. */
  readonly knownSeq: number;
  readonly history: EventHistory;
  /** Set once nothing more can be learned. */
  readonly failure: FailedEvent | undefined;
  /** True once nothing will be added to the history. */
  readonly isOver: boolean;
  /** What the server's log has beyond `afterSeq`, oldest first, perhaps with holes. */
  readonly readOlder: ReadOlder;
  /** The iterator has moved, or gone. */
  moved(iterator: EventIterator): void;
  stopped(iterator: EventIterator): void;
}

/** Where an iteration starts. */
export interface EventIteratorOptions {
  /** Absent: at the first event that was not known, or the oldest that can be had with a `gap` before it. */
  readonly afterSeq: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether the process waits for it once it has begun to read. */
  readonly holdsBack?: boolean;
}

/** One listener's way through the events of a process, at its own speed. */
export class EventIterator implements AsyncIterableIterator<ProcessEvent> {
  readonly #source: EventSource;
  readonly #signal: AbortSignal | undefined;
  readonly #stop = () => this.#end();
  #mayHoldBack: boolean;
  #hasBegun = false;
  /** Events of the server's log that are in order and come next. */
  #older: SequencedEvent[] = [];
  #cursor: number;
  #startsAnywhere: boolean;
  #ended = false;
  #wake: (() => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(source: EventSource, { afterSeq, signal, holdsBack = false }: EventIteratorOptions) {
    this.#source = source;
    this.#signal = signal;
    this.#mayHoldBack = holdsBack;
    this.#cursor = afterSeq ?? source.knownSeq;
    this.#startsAnywhere = afterSeq === undefined;
    addAbortListener(signal, this.#stop);
    if (signal?.aborted) this.#end();
  }

  /** Number of the last event that was taken. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Whether the process waits for it. */
  get holdsBack(): boolean {
    return this.#mayHoldBack && this.#hasBegun;
  }

  /** Whether it was asked for an event that has not happened yet. */
  get isWaiting(): boolean {
    return this.#wake !== undefined;
  }

  /** The process goes on without it from here on. */
  lag(): void {
    this.#mayHoldBack = false;
  }

  next(): Promise<IteratorResult<ProcessEvent>> {
    this.#hasBegun = true;
    // One after the other, also for a caller that asks for several at once.
    const turn = this.#turn.then(() => this.#next());
    this.#turn = turn.catch(() => {});
    return turn;
  }

  return(): Promise<IteratorResult<ProcessEvent>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Something has happened to the process. */
  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  async #next(): Promise<IteratorResult<ProcessEvent>> {
    while (!this.#ended) {
      const event = this.#older.shift() ?? this.#source.history.after(this.#cursor);
      if (event !== undefined) return this.#take(event);
      if (this.#cursor < this.#source.history.lastSeq) await this.#loadOlder();
      else if (this.#source.isOver) return this.#finish();
      else await this.#news();
    }
    return { done: true, value: undefined };
  }

  #take(event: SequencedEvent): IteratorResult<ProcessEvent> {
    this.#cursor = lastSeqOf(event);
    this.#startsAnywhere = false;
    this.#source.moved(this);
    return { done: false, value: event };
  }

  #finish(): IteratorResult<ProcessEvent> {
    const { failure } = this.#source;
    this.#end();
    return failure === undefined ? { done: true, value: undefined } : { done: false, value: failure };
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#source.moved(this);
    });
  }

  async #loadOlder(): Promise<void> {
    const logged = await this.#readLog();
    // The history may have moved on meanwhile.
    const end = this.#source.history.firstSeq - 1;
    const start = this.#cursor + 1;
    const found = logged.events.filter((event) => firstSeqOf(event) >= start && lastSeqOf(event) <= end);
    const first = found[0] === undefined ? end + 1 : firstSeqOf(found[0]);
    if (first > start) {
      if (this.#ended) return;
      if (!this.#startsAnywhere) {
        this.#end();
        throw new LaggedError(start, first - 1, logged.error === undefined ? {} : { cause: logged.error });
      }
      found.unshift({ type: 'gap', fromSeq: start, toSeq: first - 1 });
    }
    this.#older = takeDense(found, start);
  }

  async #readLog(): Promise<{ events: readonly SequencedEvent[]; error?: unknown }> {
    try {
      return { events: await this.#source.readOlder(this.#cursor) };
    } catch (error) {
      return { events: [], error };
    }
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    removeAbortListener(this.#signal, this.#stop);
    this.#source.stopped(this);
    this.wake();
  }
}

/** The events from `start` on up to the first hole. */
function takeDense(events: readonly SequencedEvent[], start: number): SequencedEvent[] {
  const dense: SequencedEvent[] = [];
  for (const event of events) {
    if (firstSeqOf(event) !== start) break;
    dense.push(event);
    start = lastSeqOf(event) + 1;
  }
  return dense;
}
