import { OutputTruncatedError } from './output-truncated-error.js';
import type { MissedEvents } from './process-result.js';
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

/** What becomes of output that was not kept whole. */
export interface TruncationPolicy {
  /** `error`: whoever asks for all of it gets an `OutputTruncatedError`. `middle`: a mark stands for what is missing. */
  readonly truncate: 'error' | 'middle';
  /** Names the output in errors. */
  readonly name: string;
  /** Events that never came. */
  readonly missed?: readonly MissedEvents[];
}

const REFUSE: TruncationPolicy = { truncate: 'error', name: 'the output' };

/** Output of a process that was collected: whole where it fits the limits, else its beginning and its end. */
export class CollectedOutput implements KeptOutput {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly totalBytes: number;
  readonly #policy: TruncationPolicy;

  constructor({ head, tail, totalBytes }: KeptOutput, policy: TruncationPolicy = REFUSE) {
    this.head = head;
    this.tail = tail;
    this.totalBytes = totalBytes;
    this.#policy = policy;
  }

  /** Bytes between head and tail that were not kept. */
  get droppedBytes(): number {
    return this.totalBytes - this.head.length - this.tail.length;
  }

  /**
   * All of it, in one piece. With `output: { truncate: 'middle' }` what was kept, without a mark where bytes are missing.
   *
   * @throws OutputTruncatedError where some of it was not kept
   */
  bytes(): Uint8Array<ArrayBuffer> {
    this.#requireAll();
    return joinEnds(this);
  }

  /**
   * All of it, as UTF-8. With `output: { truncate: 'middle' }` the same as `excerpt()`.
   *
   * @throws OutputTruncatedError where some of it was not kept
   */
  text(): string {
    this.#requireAll();
    return this.excerpt();
  }

  /**
   * What was kept, as UTF-8. Where bytes were dropped a line of its own says how many are missing there; characters
   * that the cut went through are missing too and counted.
   */
  excerpt(): string {
    if (this.droppedBytes === 0) return decodeText(joinEnds(this));
    const head = this.head.subarray(0, completeLength(this.head));
    const tail = this.tail.subarray(severedLength(this.tail));
    const missing = this.totalBytes - head.length - tail.length;
    const before = decodeText(head);
    return `${before}${before === '' ? '' : '\n'}${dropMark(missing)}\n${decodeText(tail)}`;
  }

  /** The text without white space at its beginning and end. Throws as `text()` does. */
  trimmed(): string {
    return this.text().trim();
  }

  /** The lines of the text, without their ends. Throws as `text()` does. */
  lines(): string[] {
    const lines = this.text().split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    return lines;
  }

  #requireAll(): void {
    const { truncate, name, missed = [] } = this.#policy;
    if (truncate === 'middle' || (this.droppedBytes === 0 && missed.length === 0)) return;
    throw new OutputTruncatedError(name, this, missed);
  }
}

function joinEnds({ head, tail }: KeptOutput): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

function dropMark(bytes: number): string {
  return `[… ${bytes} ${bytes === 1 ? 'byte' : 'bytes'} dropped …]`;
}
