import type { Clock } from '../clock.js';
import { createRandomId } from '../random-id.js';
import { startFailure, UnifiedExecError } from './errors.js';
import type { UnifiedExecEvent } from './events.js';
import { ExecSession } from './exec-session.js';
import type { UnifiedExecClient, UnifiedExecOptions } from './options.js';
import { SessionRecord } from './session-record.js';
import { asStartFailure, type PreparedCommand, startCommand } from './start-command.js';

/** What sessions are started with. */
export interface SessionHost {
  readonly client: UnifiedExecClient;
  readonly options: UnifiedExecOptions;
  readonly clock: Clock;
  readonly publish: (event: UnifiedExecEvent) => void;
}

/** Starts a command and follows it; its events begin with `begin`. Rejects in the words for the model where it can. */
export async function startSession(
  { client, options, clock, publish }: SessionHost,
  command: PreparedCommand,
  subject: { readonly callId: string; readonly sessionId: number },
  signal: AbortSignal | undefined,
): Promise<ExecSession> {
  const processId = createRandomId();
  const record = new SessionRecord({ ...subject, clock, publish });
  // Not the events of a handle: those are retained for late readers within limits, and a flood goes beyond them.
  const stopListening = client.onProcessEvent((event) => {
    if (event.processId === processId && event.sessionId === undefined) record.take(event);
  });
  try {
    const handle = await startCommand(client, command, processId, options, signal);
    void record.ended.then(stopListening);
    publish({ type: 'begin', ...subject, processId, ...command });
    record.begin();
    return new ExecSession({ ...subject, tty: command.tty, handle, record });
  } catch (error) {
    stopListening();
    const cause = asStartFailure(error);
    if (cause === undefined) throw error;
    const reason = startFailure(cause);
    publishNotStarted(publish, command, subject.callId, reason);
    throw UnifiedExecError.notStarted(reason, cause);
  }
}

/** Tells of a command that could not be started as of any other. */
function publishNotStarted(
  publish: (event: UnifiedExecEvent) => void,
  command: PreparedCommand,
  callId: string,
  reason: string,
): void {
  const subject = { callId, sessionId: undefined };
  publish({ type: 'begin', ...subject, processId: undefined, ...command });
  publish({
    type: 'end',
    ...subject,
    status: 'failed',
    outcome: { kind: 'unknown', reason },
    exitCode: -1,
    aggregatedOutput: reason,
    durationMs: 0,
  });
}
