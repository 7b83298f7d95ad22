import type { FileBlock } from './remote-file.js';

/** Most blocks that are asked for ahead of the reader. */
export const MAX_BLOCKS_AHEAD = 4;

/** What is read block by block. */
export interface BlockSource {
  /** Reads up to `length` bytes, and fewer only at the end. */
  read(offset: number, length: number): Promise<FileBlock>;
}

/** Which part of a file is read, and in which pieces. */
export interface BlockRange {
  /** First byte. */
  readonly start: number;
  /** Byte behind the last one; the file may end before it. */
  readonly end: number;
  /** Bytes of a block, 1 to 1 MiB. */
  readonly blockBytes: number;
}

/** Reads a file front to back with several blocks under way at once; as many as are worth it, and never more than 4. */
export class BlockReader {
  readonly #file: BlockSource;
  readonly #range: BlockRange;
  readonly #ahead: Promise<FileBlock>[] = [];
  #offset: number;
  /** Grows while the file goes on, so that a small one costs one request. */
  #window = 1;
  #isOver = false;

  constructor(file: BlockSource, range: BlockRange) {
    this.#file = file;
    this.#range = range;
    this.#offset = range.start;
  }

  /** The next bytes, at least one; `undefined` at the end. Called again only when the last call is over. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#isOver) return undefined;
    this.#askAhead();
    const block = await this.#ahead.shift();
    if (block === undefined) {
      this.#isOver = true;
      return undefined;
    }
    this.#isOver = block.isLast;
    this.#window = Math.min(2 * this.#window, MAX_BLOCKS_AHEAD);
    if (!this.#isOver) this.#askAhead();
    return block.bytes.length === 0 ? undefined : block.bytes;
  }

  #askAhead(): void {
    const { end, blockBytes } = this.#range;
    while (this.#ahead.length < this.#window && this.#offset < end) {
      const length = Math.min(blockBytes, end - this.#offset);
      const block = this.#file.read(this.#offset, length);
      // Whoever waits for it is told; nobody may be waiting when the reading ends early.
      block.catch(() => {});
      this.#ahead.push(block);
      this.#offset += length;
    }
  }
}
