import type { ManagedProcess } from '../process/managed-process.js';
import type { RetainedChunk } from './retained-chunk.js';

/** Where a read begins and how much it takes. */
export interface ReadCursor {
  /** Number of the last event the reader knows. */
  readonly afterSeq: number;
  /** Stops the read once this many bytes are taken; at least one chunk comes all the same. */
  readonly maxBytes?: number | undefined;
}

/** What a process had to tell beyond a cursor, at one moment. */
export interface ReadOutcome {
  readonly chunks: readonly RetainedChunk[];
  /** The reader's next cursor is this minus one. */
  readonly nextSeq: number;
}

/** Reads what is retained beyond the cursor. */
export function readFromCursor(process: ManagedProcess, cursor: ReadCursor): ReadOutcome {
  const chunks = process.log.chunksAfter(cursor.afterSeq, cursor.maxBytes);
  const last = chunks.at(-1);
  // A bounded read may stop before events that already happened, so its cursor stays at what it returned.
  const nextSeq = last !== undefined && cursor.maxBytes !== undefined ? last.seq + 1 : process.log.nextSeq;
  return { chunks, nextSeq };
}

/** Whether a read at this cursor has something to say now, or will never have anything more. */
export function hasNewsFor(process: ManagedProcess, { afterSeq }: ReadCursor): boolean {
  if (process.log.hasChunkAfter(afterSeq) || process.closed) return true;
  return process.exit !== undefined && afterSeq < process.log.nextSeq - 1;
}
