import type { OutputStream } from '../native/launch.js';
import { RETENTION_PARTS } from './cut-output.js';
import type { RetainedChunk } from './retained-chunk.js';
import { NOTHING, StreamBeginnings } from './stream-beginnings.js';

/** Bytes kept of the beginning of each stream at most, so that a log that has moved on still tells how it began. */
export const HEAD_BYTES = 16 * 1024;

/** One stream in two pieces, and how much is missing between them. */
export interface HeadAndTail {
  readonly stream: OutputStream;
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly droppedBytes: number;
  readonly totalBytes: number;
}

/** How long a stream is, and how much of it the log has. */
interface StreamRecord {
  readonly stream: OutputStream;
  totalBytes: number;
  retainedBytes: number;
}

/**
 * Remembers how the streams of a process began and how long they are. The beginnings are made of what the log evicts, so
 * that nothing is kept twice.
 */
export class StreamHeads {
  /** Bytes of the beginning of one stream that are kept. */
  readonly limitBytes: number;
  readonly #streams: readonly StreamRecord[];
  /** Most processes never say so much that something is evicted. */
  #evicted: StreamBeginnings | undefined;

  /** @param retainedBytes what the process may keep of its output in all, the beginnings included */
  constructor(streams: readonly OutputStream[], retainedBytes: number) {
    const part = Math.floor(retainedBytes / RETENTION_PARTS / streams.length);
    this.limitBytes = Math.min(HEAD_BYTES, part);
    this.#streams = streams.map((stream) => ({ stream, totalBytes: 0, retainedBytes: 0 }));
  }

  /** Bytes kept here. */
  get bytes(): number {
    return this.#evicted?.bytes ?? 0;
  }

  /** Counts output that the log takes. */
  retain({ stream, length }: RetainedChunk): void {
    const record = this.#record(stream);
    record.totalBytes += length;
    record.retainedBytes += length;
  }

  /** Takes over what the log keeps no longer. */
  evict(chunk: RetainedChunk): void {
    const record = this.#record(chunk.stream);
    record.retainedBytes -= chunk.length;
    this.#evicted ??= new StreamBeginnings(this.limitBytes);
    if (this.#evicted.of(chunk.stream).length >= this.limitBytes) return;
    this.#evicted.append(chunk.stream, chunk.borrow());
    chunk.release();
  }

  /** Lets the beginnings go. How long the streams are stays known. */
  clear(): void {
    this.#evicted = undefined;
  }

  /**
   * Joins the beginnings with what is retained of the ends. What both have comes once, in the head.
   * @param maxTailBytes newest bytes of each stream that are wanted
   */
  join(retained: readonly RetainedChunk[], maxTailBytes = Number.POSITIVE_INFINITY): HeadAndTail[] {
    return this.#streams.map(({ stream, totalBytes, retainedBytes }) => {
      const evicted = this.#evicted?.of(stream) ?? NOTHING;
      const isWhole = evicted.length + retainedBytes === totalBytes;
      const rest = isWhole ? joinOldest(retained, stream, this.limitBytes - evicted.length) : [];
      const head = Buffer.concat([evicted, ...rest]);
      const left = retainedBytes - (head.length - evicted.length);
      const tail = joinNewest(retained, stream, Math.min(maxTailBytes, left));
      return { stream, head, tail, droppedBytes: totalBytes - head.length - tail.length, totalBytes };
    });
  }

  #record(stream: OutputStream): StreamRecord {
    const record = this.#streams.find((candidate) => candidate.stream === stream);
    if (record === undefined) throw new Error(`a process without ${stream} has output of it`);
    return record;
  }
}

function joinOldest(retained: readonly RetainedChunk[], stream: OutputStream, maxBytes: number): Buffer[] {
  const pieces: Buffer[] = [];
  let left = maxBytes;
  for (const chunk of retained) {
    if (left <= 0) break;
    if (chunk.stream !== stream) continue;
    const piece = chunk.data.subarray(0, left);
    pieces.push(piece);
    left -= piece.length;
  }
  return pieces;
}

function joinNewest(retained: readonly RetainedChunk[], stream: OutputStream, maxBytes: number): Buffer {
  const pieces: Buffer[] = [];
  let left = maxBytes;
  for (let at = retained.length - 1; at >= 0 && left > 0; at--) {
    const chunk = retained[at];
    if (chunk?.stream !== stream) continue;
    const piece = chunk.data.subarray(Math.max(0, chunk.data.length - left));
    pieces.push(piece);
    left -= piece.length;
  }
  return Buffer.concat(pieces.reverse());
}
