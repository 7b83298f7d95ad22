import type { OutputStream } from '../native/launch.js';
import { RetainedChunk } from './retained-chunk.js';

/** How much output a process keeps for readers that come later. */
export interface RetentionLimits {
  /** Newest bytes kept, with those that whoever takes what is evicted keeps. */
  readonly bytes: number;
  /** Newest chunks kept, so that many tiny ones stay bounded too. */
  readonly chunks: number;
}

/** Whoever keeps something of what the log drops. */
export interface EvictionTaker {
  /** Bytes that it keeps. */
  readonly bytes: number;
  /** Told of each chunk that the log takes. */
  retain(chunk: RetainedChunk): void;
  /** Told of each chunk that the log drops, oldest first. */
  evict(chunk: RetainedChunk): void;
}

/**
 * The numbered history of one process. Every event takes the next number; only output is kept, and the oldest
 * whole chunks go first. A reader sees what went from the first number that it gets.
 */
export class RetainedLog {
  #chunks: (RetainedChunk | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #nextSeq = 1;

  constructor(
    private readonly limits: RetentionLimits,
    private readonly taker?: EvictionTaker,
  ) {}

  /** The number that the next event will get. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Bytes retained now. */
  get retainedBytes(): number {
    return this.#bytes;
  }

  /** Chunks retained now. */
  get retainedChunks(): number {
    return this.#chunks.length - this.#head;
  }

  /** Takes a number for an event that is not output. */
  takeSeq(): number {
    return this.#nextSeq++;
  }

  /** Takes the next piece of output. The caller holds the chunk as well, and releases it. */
  append(stream: OutputStream, data: Buffer): RetainedChunk {
    const chunk = new RetainedChunk(this.takeSeq(), stream, data);
    chunk.borrow();
    this.#chunks.push(chunk);
    this.#bytes += data.length;
    this.taker?.retain(chunk);
    while (this.retainedChunks > 0 && this.#isTooMuch()) this.#evictOldest();
    return chunk;
  }

  /** Lets everything go. The numbers stay taken. */
  clear(): void {
    while (this.retainedChunks > 0) this.#evictOldest();
  }

  #isTooMuch(): boolean {
    const { bytes, chunks } = this.limits;
    return this.#bytes + (this.taker?.bytes ?? 0) > bytes || this.retainedChunks > chunks;
  }

  /**
   * Retained chunks with a number above `afterSeq`, oldest first: at least one if there is any, then as many as fit
   * into `maxBytes`.
   */
  chunksAfter(afterSeq: number, maxBytes = Number.POSITIVE_INFINITY): RetainedChunk[] {
    const taken: RetainedChunk[] = [];
    let total = 0;
    for (let index = this.#firstIndexAfter(afterSeq); index < this.#chunks.length; index++) {
      const chunk = this.#chunks[index]!;
      if (taken.length > 0 && total + chunk.length > maxBytes) break;
      taken.push(chunk);
      total += chunk.length;
      if (total >= maxBytes) break;
    }
    return taken;
  }

  /** The oldest retained chunk with a number above `afterSeq`. */
  firstChunkAfter(afterSeq: number): RetainedChunk | undefined {
    return this.#chunks[this.#firstIndexAfter(afterSeq)];
  }

  hasChunkAfter(afterSeq: number): boolean {
    return this.retainedChunks > 0 && this.#chunks[this.#chunks.length - 1]!.seq > afterSeq;
  }

  #evictOldest(): void {
    const oldest = this.#chunks[this.#head]!;
    this.#chunks[this.#head++] = undefined;
    this.#bytes -= oldest.length;
    this.taker?.evict(oldest);
    oldest.release();
    // Moving the rest down only once half of the array is dead keeps eviction constant on average.
    if (this.#head * 2 >= this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#head);
      this.#head = 0;
    }
  }

  #firstIndexAfter(afterSeq: number): number {
    let low = this.#head;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#chunks[middle]!.seq > afterSeq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
