import type { LaunchedProcess } from '../native/launch.js';
import type { Session } from '../sessions/session.js';
import type { AuditSubject } from '../telemetry/audit.js';
import { killOneTree } from '../terminate/kill-one-tree.js';
import type { StartRequest } from './launch-plan.js';
import type { ProcessEngine } from './process-engine.js';
import type { ProcessExit } from './process-exit.js';
import { StartError } from './start-error.js';

/** Whom a record is about. */
export function subject(session: Session, { processId }: Pick<StartRequest, 'processId'>): AuditSubject {
  return {
    principal: session.principal,
    remote: session.remote,
    sessionId: session.id,
    processId,
  };
}

function ids(
  session: Session,
  { processId }: Pick<StartRequest, 'processId'>,
): { sessionId: string; processId: string } {
  return { sessionId: session.id, processId };
}

/** Puts a start on record. One that cannot be does not stand: throws {@link StartError}. */
export function recordStart(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  launched: LaunchedProcess,
): void {
  const { argv, cwdText: cwd, tty } = request;
  try {
    const pid = launched.programPid ?? launched.pid;
    engine.auditLog.record({ event: 'process-started', ...subject(session, request), pid, argv, cwd, tty });
  } catch (error) {
    void killOneTree(launched, () => {
      for (const source of launched.outputs) source.destroy();
      launched.input?.close();
    });
    throw new StartError('spawn-failed', 'the audit log cannot be written', { cause: error });
  }
  engine.metrics?.countStart();
  engine.logger.debug({ ...ids(session, request), pid: launched.pid }, 'process started');
}

/** Puts on record that a start failed, as far as that is possible. */
export function recordRefusal(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  failure: StartError,
): void {
  const { argv, cwdText: cwd } = request;
  engine.metrics?.countRefusal(failure.failure);
  engine.logger.debug({ ...ids(session, request), failure: failure.failure }, 'process not started');
  try {
    const reason = failure.message;
    engine.auditLog.record({ event: 'process-refused', ...subject(session, request), argv, cwd, reason });
  } catch (error) {
    engine.logger.error({ err: error }, 'the audit log cannot be written');
  }
}

/** Puts the end of a process on record, as far as that is possible. */
export function recordEnd(
  engine: ProcessEngine,
  session: Session,
  request: Pick<StartRequest, 'processId'>,
  pid: number,
  exit: ProcessExit,
  durationMs: number,
): void {
  const { exitCode, status } = exit;
  engine.metrics?.countEnd(exit);
  engine.logger.debug({ ...ids(session, request), pid, exitCode, outcome: status.kind }, 'process ended');
  try {
    engine.auditLog.record({
      event: 'process-ended',
      ...subject(session, request),
      pid,
      outcome: status.kind,
      exitCode,
      durationMs: Math.round(durationMs),
    });
  } catch (error) {
    engine.logger.error({ err: error }, 'the audit log cannot be written');
  }
}
