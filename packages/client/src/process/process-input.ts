import { type ErrorName, ExecServerError } from '../errors.js';
import type { ProcessRecord } from './process-record.js';
import type { ProcessStdin } from './process-stdin.js';

/** What a process gets to read, whole or in pieces. */
export type ProcessInput =
  | string
  | Uint8Array
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>
  | ReadableStream<string | Uint8Array>;

type Pieces = AsyncIterator<string | Uint8Array> | Iterator<string | Uint8Array>;

/** Longest stretch of writing without letting anything else happen, in milliseconds. */
const MAX_TURN_MS = 10;

/** What a write fails with when the process reads no more, or when nobody can tell. */
const DONE_READING: ReadonlySet<ErrorName> = new Set([
  'usage',
  'rejected',
  'process_unknown',
  'process_expired',
  'connection_lost',
  'session_expired',
]);

/**
 * Writes all of the input and ends it. A process that ends or stops reading before has had enough, which is no error;
 * what the source of the input throws is. Need not settle once the process has ended: its source may never.
 */
export async function feedInput(
  stdin: ProcessStdin,
  input: ProcessInput,
  record: ProcessRecord,
): Promise<void> {
  const pieces = openPieces(input);
  void record.ended.then(() => close(pieces));
  for (let turnedAt = performance.now(); ; ) {
    // A source without end that is taken at once, as by a server in this process, would never let its end be seen.
    if (performance.now() - turnedAt > MAX_TURN_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      turnedAt = performance.now();
    }
    const next = await pieces.next();
    if (record.outcome !== undefined) return;
    if (next.done === true) break;
    if (!(await isTaken(stdin.write(next.value)))) return close(pieces);
  }
  await isTaken(stdin.end());
}

async function isTaken(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (error instanceof ExecServerError && DONE_READING.has(error.code)) return false;
    throw error;
  }
}

function openPieces(input: ProcessInput): Pieces {
  if (typeof input === 'string' || input instanceof Uint8Array) return [input][Symbol.iterator]();
  if (Symbol.asyncIterator in input) return input[Symbol.asyncIterator]();
  if (Symbol.iterator in input) return input[Symbol.iterator]();
  return readPieces(input);
}

/** For browsers whose streams cannot be iterated. */
function readPieces(stream: ReadableStream<string | Uint8Array>): Pieces {
  const reader = stream.getReader();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? { done: true, value: undefined } : { done: false, value };
    },
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

/** Lets the source know. It may be waiting for something that never comes, so nobody waits for it. */
function close(pieces: Pieces): void {
  void Promise.resolve(pieces.return?.()).catch(() => {});
}
