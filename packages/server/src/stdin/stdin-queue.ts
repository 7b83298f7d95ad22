import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import type { InputTarget } from '../native/launch.js';
import type { ChildTraffic } from '../telemetry/metrics/server-metrics.js';
import { WriteIdMemory } from './write-id-memory.js';

/** Bounds of one process's stdin. */
export interface StdinLimits {
  /** Bytes queued for a child that does not read; a write beyond them waits. */
  readonly queueBytes: number;
  /** Write ids remembered against repeats. */
  readonly rememberedWriteIds: number;
}

/** How a write is to be carried out. */
export interface WriteOptions {
  /** Tells a repeat of the same write. */
  readonly writeId?: string | undefined;
  /** Ends the input behind the bytes. @default false */
  readonly end?: boolean | undefined;
  /** Takes a write that still waits back. */
  readonly signal: AbortSignal;
}

/** The process was terminated, so nothing more will reach its stdin. */
export class StdinGoneError extends Error {
  override readonly name = 'StdinGoneError';
  constructor() {
    super('failed to write to process stdin');
  }
}

/** Bytes in their order, and whether the input ends behind them. */
interface QueuedWrite {
  readonly bytes: Uint8Array;
  readonly end: boolean;
}

interface WaitingWrite extends QueuedWrite {
  accept(): void;
  fail(error: Error): void;
}

/**
 * Ordered writes to one child. A write is accepted when it is queued, not when the child read it; once the queue is
 * full, later writes wait in order, and nothing but them waits.
 */
export class StdinQueue {
  readonly #queue: QueuedWrite[] = [];
  readonly #waiting = new Set<WaitingWrite>();
  readonly #acceptedIds: WriteIdMemory;
  readonly #waitingIds = new Map<string, Promise<void>>();
  #queuedBytes = 0;
  #writing = false;
  #state: 'open' | 'broken' | 'gone' = 'open';
  #ended = false;

  constructor(
    private readonly target: InputTarget,
    private readonly limits: StdinLimits,
    /** Where bytes are counted that the kernel has taken, if anybody counts them. */
    private readonly traffic?: ChildTraffic,
  ) {
    this.#acceptedIds = new WriteIdMemory(limits.rememberedWriteIds);
  }

  /** Bytes accepted that the kernel has not taken yet. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** True once the input was ended: nothing can be written behind that. A terminal's input never ends for good. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether this write was made before, so that a repeat of it is no news. */
  knows(writeId: string | undefined): boolean {
    return writeId !== undefined && (this.#acceptedIds.has(writeId) || this.#waitingIds.has(writeId));
  }

  /** Writes that wait for room. */
  get waitingWrites(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves once the bytes are queued; at once while there is room. A known `writeId` is accepted without writing
   * again. `end` ends the input behind the bytes. `signal` takes back a write that still waits.
   */
  async write(bytes: Uint8Array, options: WriteOptions): Promise<void> {
    const { writeId } = options;
    if (writeId === undefined) return this.#enqueue(bytes, options);
    if (this.#acceptedIds.has(writeId)) return;
    const twin = this.#waitingIds.get(writeId);
    if (twin !== undefined) return twin;
    const accepted = this.#enqueue(bytes, options);
    this.#waitingIds.set(writeId, accepted);
    try {
      await accepted;
      this.#acceptedIds.add(writeId);
    } finally {
      this.#waitingIds.delete(writeId);
    }
  }

  /** Fails what waits and everything later: the process was terminated. */
  abandon(): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#dropQueue();
    for (const waiting of this.#waiting) waiting.fail(new StdinGoneError());
    this.#waiting.clear();
    this.target.close();
  }

  /** Releases the descriptor once the child is gone. Writes are accepted and dropped from here on, as before. */
  release(): void {
    if (this.#state === 'open') this.#break();
    this.target.close();
  }

  #enqueue(bytes: Uint8Array, { end = false, signal }: WriteOptions): Promise<void> {
    if (this.#state === 'gone') return Promise.reject(new StdinGoneError());
    if (end && this.target.endMark() === undefined) this.#ended = true;
    if (this.#state === 'broken') return Promise.resolve();
    const write = { bytes, end };
    if (this.#waiting.size > 0 || !this.#hasRoomFor(bytes)) return this.#waitForRoom(write, signal);
    this.#push(write);
    return Promise.resolve();
  }

  async #waitForRoom(write: QueuedWrite, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = withResolvers();
    const waiting: WaitingWrite = { ...write, accept: resolve, fail: reject };
    const takeBack = () => {
      this.#waiting.delete(waiting);
      // Nothing is accepted behind the end, so that with it the end itself is taken back.
      if (write.end) this.#ended = false;
      reject(signal.reason as Error);
    };
    this.#waiting.add(waiting);
    addAbortListener(signal, takeBack);
    try {
      await promise;
    } finally {
      removeAbortListener(signal, takeBack);
    }
  }

  #hasRoomFor(bytes: Uint8Array): boolean {
    // An empty queue takes a write of any size, or one larger than the limit could never be accepted.
    return this.#queuedBytes === 0 || this.#queuedBytes + bytes.length <= this.limits.queueBytes;
  }

  #push(write: QueuedWrite): void {
    if (write.bytes.length === 0 && !write.end) return;
    this.#queue.push(write);
    this.#queuedBytes += write.bytes.length;
    if (!this.#writing) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        await this.target.write(next.bytes);
        if (this.traffic !== undefined) this.traffic.inputBytes += next.bytes.length;
        if (next.end) await this.#endInput();
        if (this.#state !== 'open') return;
        this.#queuedBytes -= next.bytes.length;
        this.#admitWaiting();
      }
    } catch {
      // The child closed its stdin or is gone: as with any pipe, what follows has no reader.
      if (this.#state === 'open') this.#break();
    } finally {
      this.#writing = false;
    }
  }

  async #endInput(): Promise<void> {
    const mark = this.target.endMark();
    if (mark !== undefined) await this.target.write(mark);
    else this.release();
  }

  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoomFor(waiting.bytes)) return;
      this.#waiting.delete(waiting);
      this.#push(waiting);
      waiting.accept();
    }
  }

  #break(): void {
    this.#state = 'broken';
    this.#dropQueue();
    for (const waiting of this.#waiting) waiting.accept();
    this.#waiting.clear();
  }

  #dropQueue(): void {
    this.#queue.length = 0;
    this.#queuedBytes = 0;
  }
}

function withResolvers() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((accept, fail) => {
    resolve = accept;
    reject = fail;
  });
  return { promise, resolve, reject };
}
