import type { InputTarget } from '../native/launch.js';
import { WriteIdMemory } from './write-id-memory.js';

/** Bounds of one process's stdin. */
export interface StdinLimits {
  /** Bytes queued for a child that does not read; a write beyond them waits. */
  readonly queueBytes: number;
  /** Write ids remembered against repeats. */
  readonly rememberedWriteIds: number;
}

/** The process was terminated, so nothing more will reach its stdin. */
export class StdinGoneError extends Error {
  override readonly name = 'StdinGoneError';
  constructor() {
    super('failed to write to process stdin');
  }
}

interface WaitingWrite {
  readonly bytes: Uint8Array;
  accept(): void;
  fail(error: Error): void;
}

/**
 * Ordered writes to one child. A write is accepted when it is queued, not when the child read it; once the queue is
 * full, later writes wait in order, and nothing but them waits.
 */
export class StdinQueue {
  readonly #queue: Uint8Array[] = [];
  readonly #waiting = new Set<WaitingWrite>();
  readonly #acceptedIds: WriteIdMemory;
  readonly #waitingIds = new Map<string, Promise<void>>();
  #queuedBytes = 0;
  #writing = false;
  #state: 'open' | 'broken' | 'gone' = 'open';

  constructor(
    private readonly target: InputTarget,
    private readonly limits: StdinLimits,
  ) {
    this.#acceptedIds = new WriteIdMemory(limits.rememberedWriteIds);
  }

  /** Bytes accepted that the kernel has not taken yet. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Writes that wait for room. */
  get waitingWrites(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves once the bytes are queued; at once while there is room. A known `writeId` is accepted without writing
   * again. `signal` takes back a write that still waits.
   */
  async write(
    bytes: Uint8Array,
    options: { writeId?: string | undefined; signal: AbortSignal },
  ): Promise<void> {
    const { writeId, signal } = options;
    if (writeId === undefined) return this.#enqueue(bytes, signal);
    if (this.#acceptedIds.has(writeId)) return;
    const twin = this.#waitingIds.get(writeId);
    if (twin !== undefined) return twin;
    const accepted = this.#enqueue(bytes, signal);
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

  #enqueue(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#state === 'gone') return Promise.reject(new StdinGoneError());
    if (this.#state === 'broken') return Promise.resolve();
    if (this.#waiting.size === 0 && this.#hasRoomFor(bytes)) {
      this.#push(bytes);
      return Promise.resolve();
    }
    return this.#waitForRoom(bytes, signal);
  }

  async #waitForRoom(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = withResolvers();
    const waiting: WaitingWrite = { bytes, accept: resolve, fail: reject };
    const takeBack = () => {
      this.#waiting.delete(waiting);
      reject(signal.reason as Error);
    };
    this.#waiting.add(waiting);
    signal.addEventListener('abort', takeBack);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', takeBack);
    }
  }

  #hasRoomFor(bytes: Uint8Array): boolean {
    // An empty queue takes a write of any size, or one larger than the limit could never be accepted.
    return this.#queuedBytes === 0 || this.#queuedBytes + bytes.length <= this.limits.queueBytes;
  }

  #push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (!this.#writing) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        await this.target.write(next);
        if (this.#state !== 'open') return;
        this.#queuedBytes -= next.length;
        this.#admitWaiting();
      }
    } catch {
      // The child closed its stdin or is gone: as with any pipe, what follows has no reader.
      if (this.#state === 'open') this.#break();
    } finally {
      this.#writing = false;
    }
  }

  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoomFor(waiting.bytes)) return;
      this.#waiting.delete(waiting);
      this.#push(waiting.bytes);
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
