import { type MessageLimit, MessageTooLongError } from '../message-limit.js';
import { PartialMessage } from './partial-message.js';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Cuts a byte stream into lines without their `\n` or `\r\n`. A line within one chunk is a view of it; one that spans
 * chunks is gathered in memory that doubles, so the cost stays linear whatever the size of the pieces.
 */
export class LineSplitter {
  readonly #ownLimit: MessageLimit;
  #limit: MessageLimit;
  readonly #partial = new PartialMessage();
  /** Gives back the memory of the line that is out, where it has some of its own. */
  #release: (() => void) | undefined;
  #keptBytes = 0;

  constructor(maxLineBytes: number) {
    this.#ownLimit = { bytes: maxLineBytes };
    this.#limit = this.#ownLimit;
  }

  /** Memory that is held for a line that is not whole yet, and for lines that are kept, in bytes. */
  get heldBytes(): number {
    return this.#partial.heldBytes + this.#keptBytes;
  }

  /** Has the line that is out be good beyond the next step of the iteration, until what is returned is called. */
  keepLine(line: Buffer): () => void {
    const release = this.#release;
    this.#release = undefined;
    this.#keptBytes += line.length;
    return () => {
      this.#keptBytes -= line.length;
      release?.();
    };
  }

  /** Sets another limit for lines that follow; without one that of the constructor holds again. */
  limitLines(limit: MessageLimit = this.#ownLimit): void {
    this.#limit = limit;
  }

  /** Lines that `chunk` completes; each is good until the next step of the iteration. Throws {@link MessageTooLongError}. */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      if (this.#partial.length === 0) {
        yield this.#withoutReturn(piece);
      } else {
        this.#append(piece);
        yield* this.finish();
      }
    }
    this.#append(chunk.subarray(start));
  }

  /** The last line, if the stream ended without a newline. */
  *finish(): Generator<Buffer, void, undefined> {
    if (this.#partial.length === 0) return;
    const { message, release } = this.#partial.take();
    this.#release = release;
    try {
      yield this.#withoutReturn(message);
    } finally {
      this.#release?.();
      this.#release = undefined;
    }
  }

  /** Lets go of a line that is not whole. */
  drop(): void {
    this.#partial.retire();
    this.#partial.releaseRetired();
  }

  #append(piece: Buffer): void {
    if (piece.length === 0) return;
    // One byte more may be the `\r` of a line that is exactly as long as allowed.
    const mostBytes = this.#limit.bytes + 1;
    if (this.#partial.length + piece.length > mostBytes) throw new MessageTooLongError('line', this.#limit);
    this.#partial.append(piece, mostBytes);
  }

  #withoutReturn(line: Buffer): Buffer {
    const length = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (length > this.#limit.bytes) throw new MessageTooLongError('line', this.#limit);
    return line.subarray(0, length);
  }
}
