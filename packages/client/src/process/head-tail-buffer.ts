import { CollectedOutput, type TruncationPolicy } from './collected-output.js';

/** How much of a stream is kept. */
export interface HeadTailLimits {
  /** Bytes kept of its beginning. */
  readonly headBytes: number;
  /** Bytes kept of its end. */
  readonly tailBytes: number;
}

const FIRST_ALLOCATION_BYTES = 4096;

/** Collects a stream of any length in bounded memory: its beginning and its end, and how much it was in all. */
export class HeadTailBuffer {
  readonly #limits: HeadTailLimits;
  #head = new Uint8Array(0);
  #headLength = 0;
  /** A ring once it has its full size; up to then its bytes begin at 0. */
  #tail = new Uint8Array(0);
  #tailStart = 0;
  #tailLength = 0;
  #totalBytes = 0;

  constructor(limits: HeadTailLimits) {
    this.#limits = limits;
  }

  append(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    const forHead = bytes.subarray(0, this.#limits.headBytes - this.#headLength);
    if (forHead.length > 0) this.#appendToHead(forHead);
    if (forHead.length < bytes.length) this.#appendToTail(bytes.subarray(forHead.length));
  }

  /** What is kept at this moment. */
  collect(policy?: TruncationPolicy): CollectedOutput {
    const untilEnd = this.#tail.subarray(this.#tailStart, this.#tailStart + this.#tailLength);
    const tail = new Uint8Array(this.#tailLength);
    tail.set(untilEnd);
    tail.set(this.#tail.subarray(0, this.#tailLength - untilEnd.length), untilEnd.length);
    const head = this.#head.slice(0, this.#headLength);
    return new CollectedOutput({ head, tail, totalBytes: this.#totalBytes }, policy);
  }

  #appendToHead(bytes: Uint8Array): void {
    this.#head = grow(this.#head, this.#headLength + bytes.length, this.#limits.headBytes);
    this.#head.set(bytes, this.#headLength);
    this.#headLength += bytes.length;
  }

  #appendToTail(bytes: Uint8Array): void {
    const limit = this.#limits.tailBytes;
    if (limit === 0) return;
    const newest = bytes.subarray(Math.max(0, bytes.length - limit));
    this.#tail = grow(this.#tail, Math.min(limit, this.#tailLength + newest.length), limit);
    const size = this.#tail.length;
    const end = (this.#tailStart + this.#tailLength) % size;
    const untilEnd = newest.subarray(0, size - end);
    this.#tail.set(untilEnd, end);
    this.#tail.set(newest.subarray(untilEnd.length), 0);
    const excess = Math.max(0, this.#tailLength + newest.length - size);
    this.#tailStart = (this.#tailStart + excess) % size;
    this.#tailLength += newest.length - excess;
  }
}

/** The same bytes with room for `needed`: doubled, so that appending stays cheap, and never beyond `limit`. */
function grow(bytes: Uint8Array<ArrayBuffer>, needed: number, limit: number): Uint8Array<ArrayBuffer> {
  if (needed <= bytes.length) return bytes;
  const doubled = Math.max(needed, bytes.length * 2, FIRST_ALLOCATION_BYTES);
  const larger = new Uint8Array(Math.min(limit, doubled));
  larger.set(bytes);
  return larger;
}
