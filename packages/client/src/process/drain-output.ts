import { addAbortListener, MAX_TIMER_MS, removeAbortListener } from '@exec-server/rpc';
import { ExecServerError } from '../errors.js';
import type { ProcessSession } from '../process-session.js';
import type { ProcessRecord } from './process-record.js';

/** Output that somebody else holds open counts as drained when nothing came for so long, in milliseconds. */
const OUTPUT_QUIET_MS = 100;

/** And at the latest so long after the end of the process, whoever goes on writing; in milliseconds. */
const OUTPUT_DRAIN_LIMIT_MS = 2000;

/**
 * Waits, after the end of a process, for the end of its output. Where something that it started holds that open, it
 * waits until nothing more comes; the server goes on reading, so that nobody who writes there is hurt.
 */
export async function drainOutput(session: ProcessSession, record: ProcessRecord): Promise<void> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), OUTPUT_DRAIN_LIMIT_MS);
  try {
    while (!record.isOver) {
      await untilQuiet(session, record, OUTPUT_QUIET_MS, limit.signal);
      if (record.isOver || limit.signal.aborted || (await isOpenAndQuiet(session))) return;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when no output came for `quietMs`, when none can come any more, or at the signal. */
export function untilQuiet(
  session: ProcessSession,
  record: ProcessRecord,
  quietMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      stopListening();
      removeAbortListener(signal, settle);
      resolve();
    };
    const startTimer = () => setTimeout(settle, Math.min(quietMs, MAX_TIMER_MS));
    let timer = startTimer();
    const stopListening = session.listen((event) => {
      if (event.type !== 'output') return;
      clearTimeout(timer);
      timer = startTimer();
    });
    addAbortListener(signal, settle);
    if (signal.aborted) settle();
    void record.over.then(settle);
  });
}

/** Asks the server, because a quiet connection may only be a slow one. Fetches the rest where it knows of more. */
async function isOpenAndQuiet(session: ProcessSession): Promise<boolean> {
  try {
    const { closed, nextSeq } = await session.read({ afterSeq: session.lastSeq, maxBytes: 1 });
    if (!closed && nextSeq - 1 <= session.lastSeq) return true;
    await session.catchUp();
    return false;
  } catch (error) {
    // Nothing more can be learned of it; what is known is the result.
    if (error instanceof ExecServerError) return true;
    throw error;
  }
}
