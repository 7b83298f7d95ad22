import { MAX_CHUNK_BYTES } from './constants.js';

/** Blocks that lie ready at most: 2 MiB, what the log and the queue of one busy process take together. */
export const MAX_SPARE_BLOCKS = 32;

/** How long nobody needs a block until all spare ones are given back, in milliseconds. */
export const IDLE_MS = 1_000;

/**
 * Memory for full chunks of output, used again and again. Fresh memory would be garbage as fast as it is read, and V8
 * marks its whole heap for every 64 MiB of that. A block that is never handed back is collected like anything else.
 */
export class BlockPool {
  /** Blocks that are out. Each is an object of its own, also where its memory was out before. */
  readonly #out = new WeakSet<Buffer>();
  #spare: ArrayBuffer[] = [];
  #isIdle = true;
  #timer: NodeJS.Timeout | undefined;

  /** Blocks that lie ready now. */
  get spareBlocks(): number {
    return this.#spare.length;
  }

  /** A block of `MAX_CHUNK_BYTES`, with anything in it. */
  take(): Buffer<ArrayBuffer> {
    this.#isIdle = false;
    const block = Buffer.from(this.#spare.pop() ?? Buffer.allocUnsafeSlow(MAX_CHUNK_BYTES).buffer);
    this.#out.add(block);
    return block;
  }

  /** Takes a block of `take` back that nobody reads or writes any more, the very object, once. Leaves all else alone. */
  giveBack(block: Buffer): void {
    if (!this.#out.delete(block) || this.#spare.length >= MAX_SPARE_BLOCKS) return;
    this.#spare.push(block.buffer as ArrayBuffer);
    this.#timer ??= setTimeout(this.#releaseIfIdle, IDLE_MS).unref();
  }

  readonly #releaseIfIdle = (): void => {
    if (this.#isIdle) {
      this.#spare = [];
      this.#timer = undefined;
      return;
    }
    this.#isIdle = true;
    this.#timer?.refresh();
  };
}

/** The blocks of this process. */
export const outputBlocks = new BlockPool();
