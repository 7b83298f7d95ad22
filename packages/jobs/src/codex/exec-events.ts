import { isObject } from '../rows/row.js';
import { TURN_FAILED, TURN_INTERRUPTED, type TurnEnd } from './turn-status.js';

/** What is known of a turn from the events of `codex exec --json` so far. */
export interface TurnProgress {
  /** The newest message of the agent. */
  readonly lastAgentMessage: string | null;
  /** How the turn ended, as its events say. */
  readonly end: 'completed' | 'failed' | undefined;
  readonly error: string | undefined;
  /** What does no harm and should be told. */
  readonly warnings: readonly string[];
}

export const NO_EVENTS: TurnProgress = {
  lastAgentMessage: null,
  end: undefined,
  error: undefined,
  warnings: [],
};

/** Warnings that are remembered. */
const MAX_WARNINGS = 20;

/** Takes one event. What is not known, and what is about sub-agents, changes nothing: only the turn itself ends it. */
export function takeExecEvent(progress: TurnProgress, event: unknown): TurnProgress {
  if (!isObject(event)) return progress;
  const { type } = event;
  if (type === 'item.completed') return takeItem(progress, event.item);
  if (type === 'turn.completed') return { ...progress, end: 'completed' };
  if (type === 'turn.failed')
    return { ...progress, end: 'failed', error: messageIn(event.error) ?? progress.error ?? TURN_FAILED };
  if (type === 'error') return { ...progress, error: messageIn(event) ?? progress.error };
  if (type === 'lagged') return takeWarning(progress, describeLag(event));
  return progress;
}

/** What the turn came to, with the exit code of the process: absent for one that did not exit by itself. */
export function endTurn(progress: TurnProgress, exitCode: number | undefined): TurnEnd {
  if (progress.end === undefined) return { kind: 'interrupted' };
  if (progress.end === 'failed') return { kind: 'failed', error: progress.error ?? TURN_FAILED };
  if (exitCode === 0) return { kind: 'completed', lastAgentMessage: progress.lastAgentMessage };
  const how = exitCode === undefined ? 'did not exit by itself' : `exited with code ${exitCode}`;
  return { kind: 'failed', error: `the turn completed, but codex ${how}` };
}

/** The words for the failure of a turn; nothing for a turn that completed. */
export function describeTurnFailure(end: TurnEnd): string | undefined {
  if (end.kind === 'completed') return undefined;
  return end.kind === 'failed' ? end.error : TURN_INTERRUPTED;
}

export function takeWarning(progress: TurnProgress, warning: string): TurnProgress {
  if (progress.warnings.length >= MAX_WARNINGS) return progress;
  return { ...progress, warnings: [...progress.warnings, warning] };
}

function takeItem(progress: TurnProgress, item: unknown): TurnProgress {
  if (!isObject(item) || item.type !== 'agent_message' || typeof item.text !== 'string') return progress;
  return { ...progress, lastAgentMessage: item.text };
}

function messageIn(value: unknown): string | undefined {
  return isObject(value) && typeof value.message === 'string' ? value.message : undefined;
}

function describeLag({ skipped }: Readonly<Record<string, unknown>>): string {
  return typeof skipped === 'number'
    ? `the stream lagged: ${skipped} events are missing`
    : 'the stream lagged';
}
