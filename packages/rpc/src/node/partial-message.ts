import { spareBuffers } from './spare-buffers.js';

/** Least memory that is taken for a message that has begun, in bytes. */
const MIN_CAPACITY_BYTES = 4 * 1024;

/** A message that begins gets so many times the memory that its first bytes fill; most need no more than that. */
const FIRST_FACTOR = 8;

/** Memory that is full is replaced by so many times as much. */
const GROWTH_FACTOR = 2;

/**
 * Memory of this size, in bytes, is replaced by as much as the message can need, which the system gives page by page as it
 * is filled: to copy more than this takes too long for one turn of the loop.
 */
const MAX_COPIED_BYTES = 4 * 1024 * 1024;

/** What is filled of such memory is counted by so many bytes. */
const COUNTED_BYTES = 1024 * 1024;

const NOTHING = Buffer.alloc(0);

/** The part of a message that has come, in one piece of memory that grows with what has come. */
export class PartialMessage {
  #memory: Buffer<ArrayBuffer> = NOTHING;
  #length = 0;
  /** Memory that was let go of while somebody might still read into it. */
  #retired: Buffer<ArrayBuffer> | undefined;

  /** Bytes that have come. */
  get length(): number {
    return this.#length;
  }

  /** Bytes that there is room for. */
  get capacity(): number {
    return this.#memory.length;
  }

  /** Memory that is held for what has come and for what follows, in bytes. */
  get heldBytes(): number {
    const { length } = this.#memory;
    if (length <= GROWTH_FACTOR * MAX_COPIED_BYTES) return length;
    return Math.min(length, Math.ceil(this.#length / COUNTED_BYTES) * COUNTED_BYTES);
  }

  get hasRetired(): boolean {
    return this.#retired !== undefined;
  }

  /**
   * Memory for the bytes that follow: for at least one, and at most for `bytes`.
   *
   * @param mostBytes how long the whole message can become
   */
  makeRoom(bytes: number, mostBytes: number): Buffer {
    this.#reserve(1, mostBytes);
    return this.#memory.subarray(this.#length, this.#length + bytes);
  }

  /** Takes so many bytes that were read into the room, and returns them. */
  extend(bytes: number): Buffer {
    const start = this.#length;
    this.#length += bytes;
    return this.#memory.subarray(start, this.#length);
  }

  /** Copies bytes behind what has come, and returns the copy. */
  append(bytes: Uint8Array, mostBytes: number): Buffer {
    this.#reserve(bytes.length, mostBytes);
    this.#memory.set(bytes, this.#length);
    return this.extend(bytes.length);
  }

  /** Hands over what has come, which is good until its release, and begins anew. */
  take(): { readonly message: Buffer; readonly release: () => void } {
    const memory = this.#memory;
    const message = memory.subarray(0, this.#length);
    this.#memory = NOTHING;
    this.#length = 0;
    return { message, release: () => spareBuffers.give(memory) };
  }

  /** Lets go of what has come; its memory is used again after `releaseRetired`. */
  retire(): void {
    if (this.#memory.length > 0) this.#retired = this.#memory;
    this.#memory = NOTHING;
    this.#length = 0;
  }

  /** Has retired memory be used again. To be called when nobody reads into it any more. */
  releaseRetired(): void {
    if (this.#retired !== undefined) spareBuffers.give(this.#retired);
    this.#retired = undefined;
  }

  #reserve(bytes: number, mostBytes: number): void {
    const needed = this.#length + bytes;
    const { capacity } = this;
    if (needed <= capacity) return;
    const larger = spareBuffers.take(Math.max(needed, Math.min(this.#chooseCapacity(needed), mostBytes)));
    this.#memory.copy(larger, 0, 0, this.#length);
    spareBuffers.give(this.#memory);
    this.#memory = larger;
  }

  #chooseCapacity(needed: number): number {
    const { capacity } = this;
    if (capacity === 0) return Math.max(FIRST_FACTOR * needed, MIN_CAPACITY_BYTES);
    return capacity < MAX_COPIED_BYTES ? GROWTH_FACTOR * capacity : Number.POSITIVE_INFINITY;
  }
}
