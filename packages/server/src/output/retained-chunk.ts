import { outputBlocks } from '../native/block-pool.js';
import type { OutputStream } from '../native/launch.js';

/**
 * One piece of output with its place in the process's sequence. Its memory is used again once nobody holds it: whoever
 * makes it holds it at first, and it can be borrowed. Whoever asks for `data` may keep it, and nobody uses it again.
 */
export class RetainedChunk {
  /** Absent once the memory has been used again. */
  #bytes: Buffer | undefined;
  #holders = 1;
  #isKept = false;

  /** @param bytes the chunk's own from here on */
  constructor(
    readonly seq: number,
    readonly stream: OutputStream,
    bytes: Buffer,
  ) {
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  /** In bytes. */
  readonly length: number;

  /** The bytes for good. */
  get data(): Buffer {
    this.#isKept = true;
    return this.#present();
  }

  /** The bytes until `release`, which is called once for each `borrow`, or never. */
  borrow(): Buffer {
    this.#holders++;
    return this.#present();
  }

  /** Ends a `borrow`, or the hold of who made the chunk. */
  release(): void {
    this.#holders--;
    if (this.#holders > 0 || this.#isKept || this.#bytes === undefined) return;
    outputBlocks.giveBack(this.#bytes);
    this.#bytes = undefined;
  }

  #present(): Buffer {
    if (this.#bytes === undefined) throw new Error(`output ${this.seq} is held by nobody any more`);
    return this.#bytes;
  }
}
