import type { NotificationParams, ReadChunk, ResultOf } from '@exec-server/protocol';
import { decodeBase64 } from '@exec-server/protocol';
import type { ClosedEvent, ExitedEvent, GapEvent, OutputEvent, ProcessEvent } from '../process-event.js';

/** An event that has its place in the count of its process: all but `failed`. */
export type SequencedEvent = OutputEvent | ExitedEvent | ClosedEvent | GapEvent;

/** What a server tells about the end of a process, whichever way. */
type ExitFacts = Pick<NotificationParams<'process/exited'>, 'signal' | 'timedOut' | 'sandboxDenied'>;

/** Number of the first event that it stands for. */
export function firstSeqOf(event: SequencedEvent): number {
  return event.type === 'gap' ? event.fromSeq : event.seq;
}

/** Number of the last event that it stands for. */
export function lastSeqOf(event: SequencedEvent): number {
  return event.type === 'gap' ? event.toSeq : event.seq;
}

/** What it costs to keep, in bytes of output. */
export function bytesOf(event: ProcessEvent): number {
  return event.type === 'output' ? event.data.length : 0;
}

export function toOutputEvent({ seq, stream, chunk }: ReadChunk): OutputEvent {
  return { type: 'output', seq, stream, data: decodeBase64(chunk) };
}

export function toExitedEvent(seq: number, exitCode: number, facts: ExitFacts): ExitedEvent {
  const { signal, timedOut = false, sandboxDenied } = facts;
  return { type: 'exited', seq, exitCode, signal: signal ?? undefined, timedOut, sandboxDenied };
}

/** What reads answer about a process that is lost. */
export function failedReadResult(failure: string, lastSeq: number): ResultOf<'process/read'> {
  return { chunks: [], nextSeq: lastSeq + 1, exited: true, exitCode: null, closed: true, failure };
}
