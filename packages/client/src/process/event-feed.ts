import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import type { ExecServerError } from '../errors.js';
import type { EventSubject, GapEvent, OutputEvent, RoutedEvent } from '../process-event.js';

/** Output that waits for a slow reader, in bytes. What comes beyond it is dropped and told as a gap. */
export const MAX_FEED_BYTES = 8 * 1024 * 1024;

/** Events that wait for a slow reader; of those beyond it output is dropped and told as a gap. */
export const MAX_FEED_EVENTS = 8192;

/** Where the events of all processes come from. */
export interface EventFeedSource {
  onProcessEvent(listener: (event: RoutedEvent) => void): () => void;
  onOver(listener: (error: ExecServerError) => void): () => void;
}

/** How to follow all processes at once. */
export interface FeedOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

type QueuedGap = { -readonly [K in keyof GapEvent]: GapEvent[K] } & EventSubject;

/**
 * The events of all processes from the moment it is made. A reader that is too slow misses output, and is told by `gap`
 * events which. Ends with the client; where the session was lost it throws, behind the last event.
 */
export class EventFeed implements AsyncIterableIterator<RoutedEvent> {
  readonly #queue: RoutedEvent[] = [];
  #bytes = 0;
  /** For each process, the gap that is the newest thing queued of it. */
  readonly #openGaps = new Map<string, QueuedGap>();
  readonly #disconnect: () => void;
  #over: ExecServerError | undefined;
  #ended = false;
  #wake: () => void = () => {};
  #turn: Promise<unknown> = Promise.resolve();

  constructor(source: EventFeedSource, { signal }: FeedOptions = {}) {
    const stop = () => this.#end();
    const stopEvents = source.onProcessEvent((event) => this.#push(event));
    const stopOver = source.onOver((error) => {
      this.#over = error;
      this.#wake();
    });
    this.#disconnect = () => {
      stopEvents();
      stopOver();
      removeAbortListener(signal, stop);
    };
    addAbortListener(signal, stop);
    if (signal?.aborted === true) stop();
  }

  next(): Promise<IteratorResult<RoutedEvent>> {
    // One after the other, also for a caller that asks for several at once.
    const turn = this.#turn.then(() => this.#next());
    this.#turn = turn.catch(() => {});
    return turn;
  }

  return(): Promise<IteratorResult<RoutedEvent>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #next(): Promise<IteratorResult<RoutedEvent>> {
    while (!this.#ended) {
      const event = this.#shift();
      if (event !== undefined) return { done: false, value: event };
      if (this.#over !== undefined) this.#endWith(this.#over);
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
    return { done: true, value: undefined };
  }

  #endWith(error: ExecServerError): void {
    this.#end();
    // Only the loss that the client itself asked for is not worth another attempt.
    const wasClosedHere = error.code === 'connection_lost' && !error.retryable;
    if (!wasClosedHere) throw error;
  }

  #end(): void {
    this.#ended = true;
    this.#disconnect();
    this.#wake();
  }

  #push(event: RoutedEvent): void {
    const key = keyOf(event);
    if (event.type === 'output' && this.#isFull) this.#widenGap(key, event);
    else {
      this.#openGaps.delete(key);
      this.#queue.push(event);
      if (event.type === 'output') this.#bytes += event.data.length;
    }
    this.#wake();
  }

  #shift(): RoutedEvent | undefined {
    const event = this.#queue.shift();
    if (event?.type === 'output') this.#bytes -= event.data.length;
    // A gap that was read cannot grow any more.
    if (event?.type === 'gap') this.#openGaps.delete(keyOf(event));
    return event;
  }

  get #isFull(): boolean {
    return this.#queue.length >= MAX_FEED_EVENTS || this.#bytes >= MAX_FEED_BYTES;
  }

  #widenGap(key: string, { seq, processId, sessionId }: RoutedEvent & OutputEvent): void {
    const open = this.#openGaps.get(key);
    if (open !== undefined) open.toSeq = seq;
    else {
      const gap: QueuedGap = { type: 'gap', fromSeq: seq, toSeq: seq, processId, sessionId };
      this.#openGaps.set(key, gap);
      this.#queue.push(gap);
    }
  }
}

function keyOf({ processId, sessionId }: EventSubject): string {
  return JSON.stringify([sessionId ?? null, processId]);
}
