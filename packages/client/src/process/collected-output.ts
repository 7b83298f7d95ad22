import { completeLength, decodeText, severedLength } from './utf8.js';

/** What was kept of a stream: how it began, how it went on last, and how much it was. */
export interface KeptOutput {
  /** Its first bytes. */
  readonly head: Uint8Array;
  /** Its newest bytes; they follow the head directly when nothing was dropped. */
  readonly tail: Uint8Array;
  /** Bytes it had in all. */
  readonly totalBytes: number;
}

/** Output of a process that was collected: whole where it fits the limits, else its beginning and its end. */
export class CollectedOutput implements KeptOutput {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly totalBytes: number;

  constructor({ head, tail, totalBytes }: KeptOutput) {
    this.head = head;
    this.tail = tail;
    this.totalBytes = totalBytes;
  }

  /** Bytes between head and tail that were not kept. */
  get droppedBytes(): number {
    return this.totalBytes - this.head.length - this.tail.length;
  }

  /** What was kept, in one piece and without a mark where bytes are missing. */
  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.head.length + this.tail.length);
    bytes.set(this.head);
    bytes.set(this.tail, this.head.length);
    return bytes;
  }

  /**
   * What was kept, as UTF-8. Where bytes were dropped a line of its own says how many are missing there; characters
   * that the cut went through are missing too and counted.
   */
  text(): string {
    if (this.droppedBytes === 0) return decodeText(this.bytes());
    const head = this.head.subarray(0, completeLength(this.head));
    const tail = this.tail.subarray(severedLength(this.tail));
    const missing = this.totalBytes - head.length - tail.length;
    const before = decodeText(head);
    return `${before}${before === '' ? '' : '\n'}${dropMark(missing)}\n${decodeText(tail)}`;
  }

  /** The text without white space at its beginning and end. */
  trimmed(): string {
    return this.text().trim();
  }

  /** The lines of the text, without their ends. */
  lines(): string[] {
    const lines = this.text().split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    return lines;
  }
}

function dropMark(bytes: number): string {
  return `[… ${bytes} ${bytes === 1 ? 'byte' : 'bytes'} dropped …]`;
}
