import { freeMemory } from './free-memory.js';

/** Buffers below this size, in bytes, come and go with the young heap. */
const MIN_SPARE_BYTES = 64 * 1024;

/** Most memory that is kept for later, in bytes. */
const MAX_SPARE_BYTES = 4 * 1024 * 1024;

/** Memory from this size on, in bytes, is not left to V8 to be found. */
const MIN_FREED_BYTES = 1024 * 1024;

const PAGE_BYTES = 4096;

/** A spare buffer is used for as little as this share of it. */
const MIN_USE = 0.5;

/**
 * Large buffers that are done with, for whoever needs one next. V8 counts their memory as if it were its own: as garbage
 * they have it mark all its heap, again and again, which costs more than what is done with them.
 */
export class SpareBuffers {
  /** Buffers that are out. Each is an object of its own, also where its memory was out before. */
  readonly #out = new WeakSet<Uint8Array>();
  readonly #spare: ArrayBuffer[] = [];
  #bytes = 0;

  /** Memory with anything in it. */
  take(length: number): Buffer<ArrayBuffer> {
    if (length < MIN_SPARE_BYTES) return Buffer.allocUnsafe(length) as Buffer<ArrayBuffer>;
    const buffer = Buffer.from(this.#takeSpare(length) ?? newMemory(length), 0, length);
    this.#out.add(buffer);
    return buffer;
  }

  /**
   * Takes back a buffer of `take` that nobody uses any more, the very object, once. Everything else is left alone: it may
   * be a part of memory that others use, such as what Node cuts small buffers out of.
   */
  give(buffer: Uint8Array<ArrayBuffer>): void {
    if (!this.#out.delete(buffer)) return;
    const { buffer: memory } = buffer;
    this.#spare.push(memory);
    this.#bytes += memory.byteLength;
    while (this.#bytes > MAX_SPARE_BYTES) this.#discardOldest();
  }

  /** What has lain there for longest has a size that is not asked for any more. */
  #discardOldest(): void {
    const memory = this.#spare.shift();
    if (memory === undefined) return;
    this.#bytes -= memory.byteLength;
    if (memory.byteLength >= MIN_FREED_BYTES) freeMemory(memory);
  }

  #takeSpare(length: number): ArrayBuffer | undefined {
    const found = this.#spare.findIndex(
      ({ byteLength }) => byteLength >= length && byteLength * MIN_USE <= length,
    );
    if (found === -1) return undefined;
    const [memory] = this.#spare.splice(found, 1) as [ArrayBuffer];
    this.#bytes -= memory.byteLength;
    return memory;
  }
}

/** Of whole pages, so that what is a little longer the next time fits. */
function newMemory(length: number): ArrayBuffer {
  return Buffer.allocUnsafeSlow(Math.ceil(length / PAGE_BYTES) * PAGE_BYTES).buffer;
}

/** Those of this process. */
export const spareBuffers = new SpareBuffers();
