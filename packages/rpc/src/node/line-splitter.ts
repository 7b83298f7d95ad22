const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Buffers up to this size are kept for the next partial line; larger ones go back to the heap. */
const KEPT_CAPACITY_BYTES = 256 * 1024;

/** A line grew beyond the limit. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';

  constructor(readonly limitBytes: number) {
    super(`line exceeds the limit of ${limitBytes} bytes`);
  }
}

/**
 * Cuts a byte stream into lines without their `\n` or `\r\n`. A line within one chunk is a view of it; one that spans
 * chunks is gathered in a buffer that doubles, so the cost stays linear whatever the size of the pieces.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #partial: Buffer = Buffer.alloc(0);
  #partialBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Lines that `chunk` completes; each is valid until the next step of the iteration. Throws {@link LineTooLongError}. */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      if (this.#partialBytes === 0) {
        yield this.#withoutReturn(piece);
      } else {
        this.#append(piece);
        yield this.#takePartial();
      }
    }
    this.#append(chunk.subarray(start));
  }

  /** The last line, if the stream ended without a newline. */
  finish(): Buffer | undefined {
    return this.#partialBytes === 0 ? undefined : this.#takePartial();
  }

  #append(piece: Buffer): void {
    const length = this.#partialBytes + piece.length;
    // One byte more may be the `\r` of a line that is exactly as long as allowed.
    if (length > this.#maxLineBytes + 1) throw new LineTooLongError(this.#maxLineBytes);
    if (length > this.#partial.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(length * 2, this.#maxLineBytes + 1));
      this.#partial.copy(grown, 0, 0, this.#partialBytes);
      this.#partial = grown;
    }
    piece.copy(this.#partial, this.#partialBytes);
    this.#partialBytes = length;
  }

  #takePartial(): Buffer {
    const line = this.#partial.subarray(0, this.#partialBytes);
    this.#partialBytes = 0;
    if (this.#partial.length > KEPT_CAPACITY_BYTES) this.#partial = Buffer.alloc(0);
    return this.#withoutReturn(line);
  }

  #withoutReturn(line: Buffer): Buffer {
    const length = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (length > this.#maxLineBytes) throw new LineTooLongError(this.#maxLineBytes);
    return line.subarray(0, length);
  }
}
