import type { ParamsOf, ResultOf } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import { CapabilityMissingError, ConnectionLostError, ExecServerError } from '../errors.js';
import type { EventSubject, ExitedEvent, FailedEvent, ProcessEvent } from '../process-event.js';
import type { EventsOptions, ProcessSession, SlowReader, WriteOptions } from '../process-session.js';
import type { SessionCallOptions, SessionClient } from '../session-client.js';
import { EventHistory } from './event-history.js';
import { EventIterator, type EventSource } from './event-iterator.js';
import type { InputHolding } from './input-holding.js';
import { Listeners } from './listeners.js';
import { LOG_PAGE_BYTES, type ReadPage, readLog } from './read-log.js';
import { ReaderPace } from './reader-pace.js';
import { CATCH_UP_LIMITS, ReorderBuffer, ReorderOverflowError } from './reorder-buffer.js';
import {
  failedReadResult,
  firstSeqOf,
  lastSeqOf,
  type SequencedEvent,
  toOutputEvent,
} from './sequenced-event.js';
import { spliceLog } from './splice-log.js';
import { type SendWrite, StdinWrites } from './stdin-writes.js';

/** What a follower needs of its client. */
export interface FollowerHost extends InputHolding, Pick<SessionClient, 'call' | 'supports'> {
  readonly clock: Clock;
  /** What becomes of readers that do not say. */
  readonly slowReader: SlowReader;
  /** Hands an event to those who listen to all processes. */
  publish(event: ProcessEvent, about: EventSubject): void;
}

/** Which process is followed. */
export interface FollowedProcess {
  readonly processId: string;
  /** Absent for processes of the client's own session. */
  readonly sessionId: string | undefined;
  readonly afterSeq: number;
  /** What becomes of readers that do not say. @default what the client says */
  readonly slowReader?: SlowReader | undefined;
  /** Put in front of the numbers of writes, where others may have written before. */
  readonly writeIdPrefix: string;
  /** Called once nobody follows it any more. */
  onUnregister(): void;
}

/** The events of one process, put in order from wherever they come. */
export class ProcessFollower implements ProcessSession, EventSource {
  readonly processId: string;
  readonly sessionId: string | undefined;
  readonly knownSeq: number;
  readonly history: EventHistory;
  readonly #host: FollowerHost;
  readonly #target: { readonly processId: string; readonly sessionId?: string };
  readonly #reorder: ReorderBuffer;
  readonly #iterators = new Set<EventIterator>();
  readonly #slowReader: SlowReader;
  readonly #pace: ReaderPace;
  readonly #listeners = new Listeners<ProcessEvent>();
  readonly #writes: StdinWrites;
  readonly #onUnregister: () => void;
  #exit: ExitedEvent | undefined;
  #failure: FailedEvent | undefined;
  #closed = false;
  #gone = false;
  #trimIsDue = false;
  #wasSeen: boolean;
  /** Readings of the log under way. */
  #catchUps = 0;
  /** A connection was lost, so that there may be a hole until the log has been read. */
  #mayHaveMissed = false;
  /** Highest number of an event that was let go and has to come from the log. */
  #lastLetGo = 0;

  constructor(host: FollowerHost, followed: FollowedProcess) {
    const { processId, sessionId, afterSeq } = followed;
    this.#host = host;
    this.processId = processId;
    this.sessionId = sessionId;
    this.#target = { processId, ...(sessionId !== undefined && { sessionId }) };
    this.knownSeq = afterSeq;
    this.#reorder = new ReorderBuffer(afterSeq);
    this.history = new EventHistory(afterSeq);
    this.#slowReader = followed.slowReader ?? host.slowReader;
    this.#pace = this.#createPace();
    this.#writes = new StdinWrites(
      (piece, options) => this.#sendWrite(piece, options),
      followed.writeIdPrefix,
    );
    this.#onUnregister = () => followed.onUnregister();
    this.#wasSeen = afterSeq > 0;
  }

  get lastSeq(): number {
    return this.history.lastSeq;
  }

  get isOver(): boolean {
    return this.#closed || this.#failure !== undefined || this.#gone;
  }

  get failure(): FailedEvent | undefined {
    return this.#failure;
  }

  /** Whether the server is known to have had the process. */
  get wasSeen(): boolean {
    return this.#wasSeen;
  }

  noteStarted(): void {
    this.#wasSeen = true;
  }

  /** What is pushed may go on with a hole from now on, until the log has been read. */
  noteLoss(): void {
    this.#mayHaveMissed = true;
    // Another hole may follow these, which nobody would look for once they have closed the one before them.
    this.#reorder.clear();
  }

  events({
    afterSeq,
    signal,
    slowReader = this.#slowReader,
  }: EventsOptions = {}): AsyncIterableIterator<ProcessEvent> {
    const iterator = new EventIterator(this, { afterSeq, signal, holdsBack: slowReader === 'wait' });
    if (signal?.aborted !== true) this.#iterators.add(iterator);
    return iterator;
  }

  listen(listener: (event: ProcessEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  async read(
    params: Omit<ParamsOf<'process/read'>, 'processId' | 'sessionId'> = {},
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/read'>> {
    if (this.#failure !== undefined) return failedReadResult(this.#failure.message, this.lastSeq);
    try {
      return await this.#host.call('process/read', { ...params, ...this.#target }, options);
    } catch (error) {
      // A failure that came while the read was under way is its answer.
      const failure = this.failure;
      if (failure === undefined) throw error;
      return failedReadResult(failure.message, this.lastSeq);
    }
  }

  write(data: Uint8Array, options: WriteOptions = {}): Promise<ResultOf<'process/write'>> {
    return this.#writes.write(data, options);
  }

  async catchUp(): Promise<void> {
    await this.catchUpFrom(async (params) => {
      try {
        return await this.#host.call('process/read', { ...params, ...this.#target });
      } catch (error) {
        if (isProcessGone(error)) return undefined;
        throw error;
      }
    });
  }

  unregister(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#pace.stop();
    this.#onUnregister();
    this.#host.releaseInput(this);
    // Those who still read what a finished process left behind come to its end by themselves.
    if (!this.#closed && this.#failure === undefined)
      for (const iterator of Array.from(this.#iterators)) void iterator.return();
    this.#listeners.clear();
  }

  /** Takes an event from the connection, in whatever order they come. */
  push(event: SequencedEvent): void {
    if (this.isOver) return;
    this.#wasSeen = true;
    const catchesUp = this.#catchUps > 0 || this.#mayHaveMissed;
    try {
      const ready = this.#reorder.push(event, catchesUp ? CATCH_UP_LIMITS : undefined);
      for (const next of ready) this.#publish(next);
    } catch (error) {
      if (!(error instanceof ReorderOverflowError)) throw error;
      // The log is read, or will be, and has what is let go here.
      if (catchesUp) this.#letGo(event);
      else this.fail(new ExecServerError('protocol', error.message, { cause: error }));
    }
  }

  /** Learns from the log what was not pushed. */
  async catchUpFrom(readPage: ReadPage): Promise<void> {
    this.#catchUps++;
    try {
      let afterSeq: number;
      do {
        if (this.isOver) return;
        afterSeq = this.#reorder.lastSeq;
        // What was pushed goes on without a hole, so that the log need not be read beyond its beginning.
        const pages = await readLog(readPage, afterSeq, (seq) => {
          const { firstPendingSeq } = this.#reorder;
          return firstPendingSeq !== undefined && seq >= firstPendingSeq - 1;
        });
        if (pages === undefined) this.failAsForgotten();
        else this.#splice(afterSeq, pages);
      } while (afterSeq < this.#reorder.lastSeq && this.#reorder.lastSeq < this.#lastLetGo);
      this.#mayHaveMissed = false;
    } finally {
      this.#catchUps--;
    }
  }

  /** Ends it with a `failed` event; the first reason stays. */
  fail(error: ExecServerError): void {
    if (this.isOver) return;
    const { lastSeq } = this;
    const told =
      error instanceof ConnectionLostError
        ? new ConnectionLostError(error.message, { cause: error.cause, retryable: error.retryable, lastSeq })
        : error;
    this.#failure = { type: 'failed', message: error.message, error: told };
    this.#tell(this.#failure);
  }

  async readOlder(afterSeq: number): Promise<readonly SequencedEvent[]> {
    const { chunks, nextSeq } = await this.#host.call('process/read', {
      ...this.#target,
      afterSeq,
      maxBytes: LOG_PAGE_BYTES,
    });
    const events: SequencedEvent[] = chunks.map(toOutputEvent);
    // The log has output alone; where it stops, the exit may come next.
    const exit = this.#exit;
    if (exit !== undefined && exit.seq > afterSeq && exit.seq <= nextSeq) events.push(exit);
    return events.sort((a, b) => firstSeqOf(a) - firstSeqOf(b));
  }

  moved(): void {
    if (this.#host.pausesForSlowReaders) this.#holdWhileBehind();
    else this.#pace.update();
  }

  letRun(): void {
    this.#pace.letRun();
  }

  stopped(iterator: EventIterator): void {
    this.#iterators.delete(iterator);
    this.moved();
  }

  #splice(
    afterSeq: number,
    { outputs, throughSeq, state }: NonNullable<Awaited<ReturnType<typeof readLog>>>,
  ) {
    this.#wasSeen = true;
    const events = spliceLog({
      afterSeq,
      outputs,
      throughSeq,
      state,
      exitIsKnown: this.#exit !== undefined || this.#reorder.holdsExit,
      wasPushed: (seq) => seq <= this.#reorder.lastSeq || this.#reorder.has(seq),
    });
    for (const event of events) this.push(event);
  }

  #letGo(event: SequencedEvent): void {
    this.#reorder.clear();
    this.#lastLetGo = Math.max(this.#lastLetGo, lastSeqOf(event));
  }

  /** A process that nobody has seen yet may still be about to start. */
  failAsForgotten(): void {
    if (!this.#wasSeen) return;
    const missing = this.#exit === undefined ? 'what became of it' : 'what it wrote behind its exit';
    const text = `process ${this.processId} is no longer known to the server; ${missing} is unknown`;
    this.fail(new ExecServerError('process_expired', text));
  }

  #publish(event: SequencedEvent): void {
    this.history.append(event);
    if (event.type === 'exited') this.#exit = event;
    if (event.type === 'closed') this.#closed = true;
    this.moved();
    if (!this.#host.pausesForSlowReaders) this.#trimAfterTurn();
    this.#tell(event);
  }

  /** Much may come at once; a reader that takes it as it comes has done so when the turn of the event loop is over. */
  #trimAfterTurn(): void {
    if (this.#trimIsDue || !this.history.isOverfull) return;
    if (this.#iterators.size === 0) {
      this.history.trim();
      return;
    }
    this.#trimIsDue = true;
    setTimeout(() => {
      this.#trimIsDue = false;
      this.history.trim(this.#pace.neededAfter);
    }, 0);
  }

  #tell(event: ProcessEvent): void {
    this.#listeners.tell(event);
    this.#host.publish(event, this);
    for (const iterator of Array.from(this.#iterators)) iterator.wake();
  }

  #createPace(): ReaderPace {
    return new ReaderPace({
      call: (method, params, options) => this.#host.call(method, params, options),
      supports: (capability) => this.#host.supports(capability),
      clock: this.#host.clock,
      target: this.#target,
      history: this.history,
      iterators: this.#iterators,
      hasExited: () => this.#exit !== undefined,
    });
  }

  /** Keeps what an iterator has yet to see, and has the connection wait while that is more than the history. */
  #holdWhileBehind(): void {
    let slowest = Number.POSITIVE_INFINITY;
    for (const { cursor } of this.#iterators) {
      // One that is behind the history already reads from the log, and needs the connection for that.
      if (cursor + 1 >= this.history.firstSeq) slowest = Math.min(slowest, cursor);
    }
    this.history.trim(slowest);
    if (this.history.isOverfull) this.#host.holdInput(this);
    else this.#host.releaseInput(this);
  }

  async #sendWrite(
    piece: Parameters<SendWrite>[0],
    options: SessionCallOptions,
  ): Promise<ResultOf<'process/write'>> {
    if (this.#failure !== undefined) throw this.#failure.error;
    // A server that cannot would leave stdin open without a word.
    if (piece.closeStdin === true && !(await this.#host.supports('processCloseStdin')))
      throw new CapabilityMissingError('processCloseStdin');
    return this.#host.call('process/write', { ...piece, ...this.#target }, options);
  }
}

function isProcessGone(error: unknown): boolean {
  return (
    error instanceof ExecServerError && (error.code === 'process_unknown' || error.code === 'process_expired')
  );
}
