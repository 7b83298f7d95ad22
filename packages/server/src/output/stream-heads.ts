import type { OutputStream } from '../native/launch.js';
import type { RetainedChunk } from './retained-chunk.js';

/** Bytes kept of the beginning of each stream, so that a log that has moved on still tells how it began. */
export const HEAD_BYTES = 16 * 1024;

/** Every stream begins with it: most processes are silent. */
const NOTHING = Buffer.alloc(0);

interface StreamRecord {
  readonly stream: OutputStream;
  head: Buffer;
  total: number;
}

/** One stream in two pieces, and how much is missing between them. */
export interface HeadAndTail {
  readonly stream: OutputStream;
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly droppedBytes: number;
  readonly totalBytes: number;
}

/** Remembers how the streams of a process began and how long they are. */
export class StreamHeads {
  readonly #streams: readonly StreamRecord[];

  constructor(streams: readonly OutputStream[]) {
    this.#streams = streams.map((stream) => ({ stream, head: NOTHING, total: 0 }));
  }

  append(stream: OutputStream, data: Buffer): void {
    const record = this.#streams.find((candidate) => candidate.stream === stream);
    if (record === undefined) return;
    const room = HEAD_BYTES - record.head.length;
    if (room > 0) record.head = Buffer.concat([record.head, data.subarray(0, room)]);
    record.total += data.length;
  }

  /**
   * Joins the beginnings with what is retained of the ends. What both have comes once, in the head.
   * @param maxTailBytes newest bytes of each stream that are wanted
   */
  join(retained: readonly RetainedChunk[], maxTailBytes = Number.POSITIVE_INFINITY): HeadAndTail[] {
    return this.#streams.map(({ stream, head, total }) => {
      const kept = joinNewest(retained, stream, maxTailBytes);
      const overlap = Math.max(0, head.length + kept.length - total);
      const tail = kept.subarray(overlap);
      return { stream, head, tail, droppedBytes: total - head.length - tail.length, totalBytes: total };
    });
  }
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
