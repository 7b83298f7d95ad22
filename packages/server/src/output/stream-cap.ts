/** Counts the bytes of one stream and lets through those below its cap. */
export class StreamCap {
  #left: number;
  #reached = false;

  /** @param bytes let through in all; `Infinity` for everything */
  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** True from the byte on that brings the stream to its cap, whether or not another one follows. */
  get reached(): boolean {
    return this.#reached;
  }

  /** The part of a piece of output that is let through; nothing at all, not even an empty part, once the cap is reached. */
  take(data: Buffer): Buffer | undefined {
    if (this.#reached) return undefined;
    const part = data.subarray(0, this.#left);
    this.#left -= part.length;
    this.#reached = this.#left === 0;
    return part;
  }
}
