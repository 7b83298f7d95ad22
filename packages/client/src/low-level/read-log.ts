import type { ParamsOf, ResultOf } from '@exec-server/protocol';
import type { OutputEvent } from '../process-event.js';
import { toOutputEvent } from './sequenced-event.js';

/** Output asked for at a time, in bytes, so that no answer is long. */
export const LOG_PAGE_BYTES = 256 * 1024;

/** Asks the log of one process; answers nothing when the server does not know the process. */
export type ReadPage = (
  params: Pick<ParamsOf<'process/read'>, 'afterSeq' | 'maxBytes' | 'waitMs'>,
) => Promise<ResultOf<'process/read'> | undefined>;

/** What the log had to say, read page by page. */
export interface LogPages {
  readonly outputs: readonly OutputEvent[];
  /** The last answer. */
  readonly state: ResultOf<'process/read'>;
  /** Number of the last event that it covers. */
  readonly throughSeq: number;
}

/**
 * Reads the log from a cursor to its end, or until `isEnough` says so of the last event that was read. Answers nothing
 * for a process that the server does not know.
 */
export async function readLog(
  readPage: ReadPage,
  afterSeq: number,
  isEnough: (seq: number) => boolean,
): Promise<LogPages | undefined> {
  const outputs: OutputEvent[] = [];
  let cursor = afterSeq;
  for (;;) {
    const state = await readPage({ afterSeq: cursor, maxBytes: LOG_PAGE_BYTES, waitMs: 0 });
    if (state === undefined) return undefined;
    const last = state.chunks.at(-1);
    // Only an answer without output counts the events that are none.
    if (last === undefined) return { outputs, state, throughSeq: state.nextSeq - 1 };
    for (const chunk of state.chunks) outputs.push(toOutputEvent(chunk));
    cursor = last.seq;
    if (isEnough(cursor)) return { outputs, state, throughSeq: cursor };
  }
}
