import type { ParamsOf } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { SessionClient } from '../session-client.js';
import type { EventHistory } from './event-history.js';
import type { EventIterator } from './event-iterator.js';

/** A process is held back once its slowest reader has so many bytes of output before it. */
export const HOLD_BYTES = 1024 * 1024;

/** Or so many events. */
export const HOLD_EVENTS = 1024;

/**
 * How many times that a reader may have before it which takes nothing while another one waits for events; then it lags.
 * So much is kept for it in the memory of the client.
 */
export const MAX_BACKLOG_FACTOR = 64;

/** A reader that takes nothing for so long, while another one waits for events, is not waited for, in milliseconds. */
export const STUCK_MS = 5000;

/** What the pace of readers depends on. */
export interface PaceSource extends Pick<SessionClient, 'call' | 'supports'> {
  readonly clock: Clock;
  readonly target: Pick<ParamsOf<'process/hold'>, 'processId' | 'sessionId'>;
  readonly history: EventHistory;
  readonly iterators: ReadonlySet<EventIterator>;
  /** The process has ended, so that only what it left in its pipes can still come. */
  hasExited(): boolean;
}

/**
 * Makes a process go no faster than the slowest of its readers: the server is asked to hold it back, and to let it go
 * on. What was on its way meanwhile is kept. Readers that wait for each other do not wait for ever: one that takes
 * nothing gets more and more to catch up with, and lags in the end.
 */
export class ReaderPace {
  readonly #source: PaceSource;
  #wantsHold = false;
  #isHeld = false;
  #isTalking = false;
  /** The server cannot hold this process. */
  #isOff = false;
  #letsRun = false;
  #isStopped = false;
  #factor = 1;
  #stuck: { readonly reader: EventIterator; readonly cursor: number; cancel(): void } | undefined;

  constructor(source: PaceSource) {
    this.#source = source;
  }

  /** Events beyond this one are to be kept for a reader that has yet to see them. */
  get neededAfter(): number {
    const { history } = this.#source;
    let needed = Number.POSITIVE_INFINITY;
    for (const { cursor } of this.#readers()) {
      // One that is behind the history already reads from the server's log.
      if (cursor + 1 >= history.firstSeq) needed = Math.min(needed, cursor);
    }
    return needed;
  }

  /** A reader has moved, waits, or is gone, or there is something new for it. */
  update(): void {
    const slowest = this.#findSlowest();
    if (slowest === undefined || this.#isStopped) {
      this.#factor = 1;
      this.#wantsHold = false;
    } else {
      const backlog = this.#measure(slowest);
      const limit = this.#letsRun || this.#source.hasExited() ? MAX_BACKLOG_FACTOR : this.#factor;
      if (backlog > limit) this.#wantsHold = true;
      else if (backlog <= limit / 2) this.#wantsHold = false;
      if (backlog <= 0.5) this.#factor = 1;
    }
    this.#watch(slowest);
    void this.#tell();
  }

  /** The process is to end: its readers get more to catch up with, so that it need not wait for them. */
  letRun(): void {
    this.#letsRun = true;
    this.update();
  }

  /** The process goes on, whoever reads. */
  stop(): void {
    this.#isStopped = true;
    this.update();
  }

  *#readers(): Generator<EventIterator> {
    if (this.#isOff) return;
    for (const iterator of this.#source.iterators) if (iterator.holdsBack) yield iterator;
  }

  #findSlowest(): EventIterator | undefined {
    let slowest: EventIterator | undefined;
    for (const reader of this.#readers())
      if (slowest === undefined || reader.cursor < slowest.cursor) slowest = reader;
    return slowest;
  }

  /** What a reader has before it, where 1 is as much as it may have. */
  #measure({ cursor }: EventIterator): number {
    const { history } = this.#source;
    // The log would move away from one that reads there.
    if (cursor + 1 < history.firstSeq) return Number.POSITIVE_INFINITY;
    return Math.max(history.bytesAfter(cursor) / HOLD_BYTES, (history.lastSeq - cursor) / HOLD_EVENTS);
  }

  /** Gives a reader time to move that keeps others waiting. */
  #watch(slowest: EventIterator | undefined): void {
    const isAwaited =
      this.#wantsHold && slowest !== undefined && !slowest.isWaiting && this.#othersWait(slowest);
    if (isAwaited && this.#stuck?.reader === slowest && this.#stuck.cursor === slowest.cursor) return;
    this.#stuck?.cancel();
    this.#stuck = undefined;
    if (!isAwaited) return;
    const timer = this.#source.clock.after(STUCK_MS, () => this.#goOnWithout(slowest));
    this.#stuck = { reader: slowest, cursor: slowest.cursor, cancel: () => timer.cancel() };
  }

  #othersWait(slowest: EventIterator): boolean {
    for (const iterator of this.#source.iterators)
      if (iterator !== slowest && iterator.isWaiting) return true;
    return false;
  }

  #goOnWithout(reader: EventIterator): void {
    this.#stuck = undefined;
    const mayGrow = this.#factor < MAX_BACKLOG_FACTOR && Number.isFinite(this.#measure(reader));
    if (mayGrow) {
      this.#factor = Math.min(MAX_BACKLOG_FACTOR, this.#factor * 2);
      // Its backlog is just beyond what it was allowed before.
      this.#wantsHold = false;
    } else {
      this.#factor = 1;
      reader.lag();
    }
    this.update();
  }

  /** Tells the server what is wanted, one thing at a time, so that the last one stands. */
  async #tell(): Promise<void> {
    if (this.#isTalking) return;
    this.#isTalking = true;
    const { target } = this.#source;
    try {
      while (this.#wantsHold !== this.#isHeld) {
        const held = this.#wantsHold;
        if (held && !(await this.#source.supports('processHold'))) throw new Error('no `processHold`');
        await this.#source.call('process/hold', { ...target, held }, { resend: true });
        this.#isHeld = held;
      }
    } catch {
      // It cannot be held, or is gone: what does not fit is missed from here on, and told.
      this.#isOff = true;
      this.#isHeld = false;
      this.#wantsHold = false;
      this.#watch(undefined);
    } finally {
      this.#isTalking = false;
    }
  }
}
