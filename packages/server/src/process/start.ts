import type { SandboxContext } from '@exec-server/protocol';
import type { LaunchedProcess, LaunchPlan } from '../native/launch.js';
import { OsError } from '../os-error.js';
import { findRestriction } from '../sandbox/restrictions.js';
import type { Session } from '../sessions/session.js';
import { planReplay } from '../shell-snapshot/replay-plan.js';
import {
  findSnapshotShell,
  SnapshotRequestError,
  type SnapshotShell,
} from '../shell-snapshot/snapshot-request.js';
import type { AuditSubject } from '../telemetry/audit.js';
import { killTrees } from '../terminate/kill-trees.js';
import { terminateOnTimeout } from '../terminate/on-timeout.js';
import { DEFAULT_SIZE, planLaunch, type StartRequest } from './launch-plan.js';
import { ManagedProcess } from './managed-process.js';
import type { ProcessEngine } from './process-engine.js';
import type { ProcessExit } from './process-exit.js';
import type { ProcessSlot } from './process-registry.js';
import { StartError } from './start-error.js';

/** What confines a process, as far as the request says. */
export interface Confinement {
  readonly sandbox?: SandboxContext | null | undefined;
}

/**
 * Starts a process for a session: refuse what cannot be kept, take the id, plan, spawn, register, read. Throws
 * {@link StartError}; a failed start leaves nothing behind and frees the id.
 */
export async function startProcess(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  confinement: Confinement,
): Promise<ManagedProcess> {
  refuseUnenforceable(confinement);
  const shell = chooseSnapshotShell(request);
  if (request.argv.length === 0) throw new StartError('empty-argv', 'argv must not be empty');
  const slot = engine.registry.reserve(session, request.processId);
  if (slot === undefined) throw new StartError('id-taken', `process ${request.processId} already exists`);
  try {
    const plan = planLaunch(engine, request);
    const process =
      shell === undefined
        ? manage(engine, session, slot, request, plan)
        : await manageFromSnapshot(engine, session, slot, request, plan, shell);
    slot.started(process);
    session.adopt(process);
    process.begin();
    if (request.timeLimit !== undefined) terminateOnTimeout(process, request.timeLimit, engine);
    return process;
  } catch (error) {
    engine.registry.forget(slot);
    slot.failed();
    const failure = asStartError(error);
    recordRefusal(engine, session, request, failure);
    throw failure;
  }
}

function refuseUnenforceable({ sandbox }: Confinement): void {
  const restriction = findRestriction(sandbox);
  if (restriction === undefined) return;
  throw new StartError('refused', `sandbox intent cannot be enforced on this executor: ${restriction}`);
}

function chooseSnapshotShell({ shellSnapshot, argv }: StartRequest): SnapshotShell | undefined {
  try {
    return shellSnapshot && findSnapshotShell(shellSnapshot, argv);
  } catch (error) {
    if (!(error instanceof SnapshotRequestError)) throw error;
    throw new StartError('refused', error.message, { cause: error });
  }
}

/** Waits for the snapshot, which the first command of its kind has to have captured; without one it is a plain start. */
async function manageFromSnapshot(
  engine: ProcessEngine,
  session: Session,
  slot: ProcessSlot,
  request: StartRequest,
  plan: LaunchPlan,
  shell: SnapshotShell,
): Promise<ManagedProcess> {
  const use = { request: request.shellSnapshot!, shell, plan, envPolicy: request.envPolicy };
  const snapshot = await Promise.race([engine.shellSnapshots.find(session, use), slot.cancelled]);
  if (slot.isCancelled) throw new StartError('cancelled', `process ${slot.processId} start was cancelled`);
  if (!snapshot) return manage(engine, session, slot, request, plan);
  const replay = planReplay(plan, snapshot, request);
  try {
    return manage(engine, session, slot, request, replay.plan);
  } finally {
    replay.release();
  }
}

function manage(
  engine: ProcessEngine,
  session: Session,
  slot: ProcessSlot,
  request: StartRequest,
  plan: LaunchPlan,
): ManagedProcess {
  const launched = engine.launcher.launch(plan);
  const startedAt = engine.clock.now();
  session.answerFor(launched);
  recordStart(engine, session, request, launched);
  return new ManagedProcess({
    id: request.processId,
    description: {
      argv: request.argv,
      cwd: request.cwdText,
      tty: request.tty,
      tags: request.tags,
      startedAtMs: Date.now(),
    },
    launched,
    size: request.size ?? DEFAULT_SIZE,
    keepAliveMs: request.keepAliveMs ?? 0,
    retention: {
      bytes: Math.min(request.outputBytesCap ?? Number.POSITIVE_INFINITY, engine.limits.retainedOutputBytes),
      chunks: engine.limits.retainedOutputChunks,
    },
    stdin: {
      queueBytes: engine.limits.stdinQueueBytes,
      rememberedWriteIds: engine.limits.rememberedWriteIds,
    },
    onExited: (exit) =>
      recordEnd(engine, session, request, launched.pid, exit, engine.clock.now() - startedAt),
    onClosed: () => {
      engine.clock.after(engine.limits.closedProcessRetentionMs, () => engine.registry.forget(slot));
    },
  });
}

function asStartError(error: unknown): StartError {
  if (error instanceof StartError) return error;
  if (error instanceof OsError) return new StartError('spawn-failed', error.message, { cause: error });
  return new StartError('spawn-failed', 'internal error while starting the process', { cause: error });
}

function subject(session: Session, request: StartRequest): AuditSubject {
  return {
    principal: session.principal,
    remote: session.remote,
    sessionId: session.id,
    processId: request.processId,
  };
}

/** A start that cannot be put on record does not stand. */
function recordStart(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  launched: LaunchedProcess,
): void {
  const { argv, cwdText: cwd, tty } = request;
  try {
    const { pid } = launched;
    engine.auditLog.record({ event: 'process-started', ...subject(session, request), pid, argv, cwd, tty });
  } catch (error) {
    killTrees([launched]);
    for (const source of launched.outputs) source.destroy();
    launched.input?.close();
    throw new StartError('spawn-failed', 'the audit log cannot be written', { cause: error });
  }
  engine.logger.debug({ processId: request.processId, pid: launched.pid }, 'process started');
}

function recordRefusal(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  failure: StartError,
): void {
  const { argv, cwdText: cwd } = request;
  engine.logger.debug({ processId: request.processId, failure: failure.failure }, 'process not started');
  try {
    const reason = failure.message;
    engine.auditLog.record({ event: 'process-refused', ...subject(session, request), argv, cwd, reason });
  } catch (error) {
    engine.logger.error({ err: error }, 'the audit log cannot be written');
  }
}

function recordEnd(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  pid: number,
  exit: ProcessExit,
  durationMs: number,
): void {
  const { exitCode, status } = exit;
  engine.logger.debug({ processId: request.processId, pid, exitCode }, 'process ended');
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
