import { LaggedError } from '../errors.js';
import type { OutputEvent, ProcessEvent } from '../process-event.js';
import type { ProcessSession } from '../process-session.js';
import { drainOutput } from './drain-output.js';
import { linkAbort } from './link-abort.js';
import type { ProcessRecord } from './process-record.js';

/**
 * What a process writes until its end, from behind `from` or the oldest that is retained on. What somebody else may write
 * after its end is nobody's business here, and what is missed on the way is skipped: it cannot be waited for.
 */
export async function* readUntilEnd(
  { session, record }: { readonly session: ProcessSession; readonly record: ProcessRecord },
  signal: AbortSignal,
  from?: number,
): AsyncGenerator<OutputEvent> {
  const { controller, unlink } = linkAbort(signal);
  let seen = from ?? 0;
  let last = Number.POSITIVE_INFINITY;
  void record.ended
    .then(() => drainOutput(session, record))
    .then(() => {
      last = session.lastSeq;
      if (seen >= last) controller.abort();
    });
  try {
    for await (const event of readOn(session, controller.signal, from)) {
      if (event.type === 'failed' || seen >= last) return;
      seen = event.type === 'gap' ? event.toSeq : event.seq;
      if (event.type === 'output') yield event;
    }
  } finally {
    unlink();
  }
}

async function* readOn(
  session: ProcessSession,
  signal: AbortSignal,
  from: number | undefined,
): AsyncGenerator<ProcessEvent> {
  for (let afterSeq = from, lagged = true; lagged; ) {
    lagged = false;
    try {
      yield* session.events({ signal, ...(afterSeq !== undefined && { afterSeq }) });
    } catch (error) {
      if (!(error instanceof LaggedError)) throw error;
      afterSeq = error.toSeq;
      lagged = true;
    }
  }
}
