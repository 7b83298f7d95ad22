import type { ResultOf } from '@exec-server/protocol';
import type { OutputEvent } from '../process-event.js';
import { firstSeqOf, type SequencedEvent, toExitedEvent } from './sequenced-event.js';

/** What the server's log said about a stretch of events. */
export interface LogStretch {
  /** The stretch begins behind this event. */
  readonly afterSeq: number;
  /** Retained output, in order. */
  readonly outputs: readonly OutputEvent[];
  /** Number of the last event that the log knew of. */
  readonly throughSeq: number;
  /** The newest answer of the log; it tells of the end, but not when that was. */
  readonly state: ResultOf<'process/read'>;
  /** The end of the process is known already, or waits among the events that were pushed. */
  readonly exitIsKnown: boolean;
  /** Whether an event of the stretch was pushed. */
  readonly wasPushed: (seq: number) => boolean;
}

/**
 * Makes of a stretch of the log all events in it: output is told as such, `closed` is always the last of all, and what
 * is left over is the exit or no longer retained.
 */
export function spliceLog(stretch: LogStretch): SequencedEvent[] {
  const { outputs, throughSeq, state } = stretch;
  const events: SequencedEvent[] = [...outputs];
  const endsHere = state.closed && throughSeq === state.nextSeq - 1;
  if (endsHere) events.push({ type: 'closed', seq: throughSeq });
  const holes = findHoles(stretch, endsHere ? throughSeq - 1 : throughSeq);
  if (state.exited && !stretch.exitIsKnown) {
    // The log drops from its oldest end. If anything later than that is missing, it is the exit; else the exit is among
    // what was dropped, and nothing tells where.
    const last = holes.at(-1);
    if (last !== undefined) {
      events.push(toExitedEvent(last.toSeq, state.exitCode ?? -1, state));
      last.toSeq--;
    }
  }
  for (const { fromSeq, toSeq } of holes) if (fromSeq <= toSeq) events.push({ type: 'gap', fromSeq, toSeq });
  return events.sort((a, b) => firstSeqOf(a) - firstSeqOf(b));
}

interface Hole {
  readonly fromSeq: number;
  toSeq: number;
}

/** Stretches of numbers up to `throughSeq` that nobody has told of. */
function findHoles({ afterSeq, outputs, wasPushed }: LogStretch, throughSeq: number): Hole[] {
  const holes: Hole[] = [];
  const retained = new Set(outputs.map(({ seq }) => seq));
  for (let seq = afterSeq + 1; seq <= throughSeq; seq++) {
    if (retained.has(seq) || wasPushed(seq)) continue;
    const last = holes.at(-1);
    if (last?.toSeq === seq - 1) last.toSeq = seq;
    else holes.push({ fromSeq: seq, toSeq: seq });
  }
  return holes;
}
