const FIRST_BYTES = 1024;

/** Bytes in one piece that grows: many tiny chunks cost no more than what is in them. */
export class GrowingBuffer {
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  /** What was appended so far; of no use once more is. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  append(data: Uint8Array): void {
    const length = this.#length + data.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#memory.length * 2, FIRST_BYTES));
      this.bytes.copy(larger);
      this.#memory = larger;
    }
    this.#memory.set(data, this.#length);
    this.#length = length;
  }
}
