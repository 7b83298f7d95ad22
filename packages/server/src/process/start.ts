import { toFileError } from '../fs/file-error.js';
import { type Known, whenKnown } from '../loop-turn.js';
import type { LaunchedProcess, LaunchPlan } from '../native/launch.js';
import type { ProcessNetwork } from '../network-proxy/process-network.js';
import { OsError } from '../os-error.js';
import { discardSpillFile, openSpillFile, SpillError } from '../output/open-spill-file.js';
import type { SpillFile } from '../output/spill-file.js';
import { type ResolvedPolicy, sandboxKey } from '../sandbox/policy/policy.js';
import type { Session } from '../sessions/session.js';
import { planReplay, type VariableRules } from '../shell-snapshot/replay-plan.js';
import {
  findSnapshotShell,
  type SnapshotRequest,
  SnapshotRequestError,
  type SnapshotShell,
} from '../shell-snapshot/snapshot-request.js';
import { terminateOnTimeout } from '../terminate/on-timeout.js';
import { type Confinement, checkConfinement, launchInSandbox, resolveConfinement } from './confinement.js';
import { DEFAULT_SIZE, planLaunch, type StartRequest, withVariables } from './launch-plan.js';
import { ManagedProcess, type ManagedProcessOptions } from './managed-process.js';
import { planNetwork } from './network.js';
import type { ProcessEngine } from './process-engine.js';
import type { ProcessSlot } from './process-registry.js';
import { recordEnd, recordRefusal, recordStart } from './records.js';
import { StartError } from './start-error.js';

/** A login shell's state to run from. */
interface SnapshotChoice {
  readonly shell: SnapshotShell;
  readonly request: SnapshotRequest;
}

/** A start under way. */
interface Start {
  readonly engine: ProcessEngine;
  readonly session: Session;
  readonly slot: ProcessSlot;
  readonly request: StartRequest;
  readonly confinement: Confinement;
  /** How it reaches the network, if not like everybody. */
  readonly network: ProcessNetwork | undefined;
  /** What it may do, as far as its variables do not matter. */
  readonly checked: ResolvedPolicy | undefined;
  readonly snapshot: SnapshotChoice | undefined;
}

/** What a start has come to before anything runs. */
interface Prepared {
  readonly plan: LaunchPlan;
  /** What the process may do; everything, if it is absent. */
  readonly policy: ResolvedPolicy | undefined;
  readonly spill: SpillFile | undefined;
  /** What decides about variables. */
  readonly rules: VariableRules;
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
  // Before it is known whether the rest is right: some take long to check, and requests for one id keep their order.
  const slot = engine.registry.reserve(session, request.processId, request.startKey);
  try {
    const checking = checkRequest(engine, session, request, confinement);
    const checked = checking instanceof Promise ? await checking : checking;
    if (slot === undefined) throw new StartError('id-taken', `process ${request.processId} already exists`);
    return await startInSlot({ engine, session, slot, request, confinement, ...checked });
  } catch (error) {
    const failure = asStartError(error);
    if (slot !== undefined) giveUp(engine, slot);
    recordRefusal(engine, session, request, failure);
    throw failure;
  }
}

/** Throws or rejects with {@link StartError} for what cannot be kept, before anything is done for the request. */
function checkRequest(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  confinement: Confinement,
): Known<Pick<Start, 'network' | 'checked' | 'snapshot'>> {
  refuseForbiddenWay(engine, request);
  const network = planNetwork(engine, session, request, confinement);
  return whenKnown(checkConfinement(engine, confinement, request), (checked) => {
    const snapshot = chooseSnapshot(request);
    if (request.argv.length === 0) throw new StartError('empty-argv', 'argv must not be empty');
    return { network, checked, snapshot };
  });
}

function giveUp({ registry }: ProcessEngine, slot: ProcessSlot): void {
  registry.noteEnded(slot);
  registry.forget(slot);
  slot.failed();
}

async function startInSlot(start: Start): Promise<ManagedProcess> {
  const { engine, session, slot, request, network, snapshot } = start;
  let spill: SpillFile | undefined;
  try {
    refuseOverLimit(start);
    const planned = network === undefined ? request : withVariables(request, await network.open());
    if (slot.isCancelled) throw cancelled(slot);
    const planning = planLaunch(engine, planned);
    const plan = planning instanceof Promise ? await orCancelled(planning, slot) : planning;
    const resolving = resolveConfinement(start.confinement, start.checked, plan);
    const policy = resolving instanceof Promise ? await resolving : resolving;
    if (slot.isCancelled) throw cancelled(slot);
    if (request.spill) spill = await openSpill(start);
    const prepared = { plan, policy, spill, rules: planned.command };
    const process = await (snapshot === undefined
      ? manage(start, prepared)
      : manageFromSnapshot(start, prepared, snapshot));
    session.announce({ kind: 'started', processId: process.id, pid: process.programPid });
    session.adopt(process);
    process.begin();
    if (request.timeLimit !== undefined) terminateOnTimeout(process, request.timeLimit, engine);
    return process;
  } catch (error) {
    giveUp(engine, slot);
    network?.close();
    if (spill !== undefined) await discardSpill(engine, spill);
    throw error;
  }
}

function refuseForbiddenWay({ limits }: ProcessEngine, { command: { way } }: StartRequest): void {
  const allowed = way === 'direct' ? limits.allowDirectExec : limits.allowPreparedExec;
  if (!allowed) throw new StartError('not-allowed', `${way} execution is not allowed on this server`);
}

function chooseSnapshot({ command, argv }: StartRequest): SnapshotChoice | undefined {
  if (command.way !== 'direct' || command.shellSnapshot === undefined) return undefined;
  try {
    const shell = findSnapshotShell(command.shellSnapshot, argv);
    return shell && { shell, request: command.shellSnapshot };
  } catch (error) {
    if (!(error instanceof SnapshotRequestError)) throw error;
    throw new StartError('refused', error.message, { cause: error });
  }
}

/** The process that is starting is counted already. */
function refuseOverLimit({ engine: { registry, limits }, session }: Start): void {
  const { maxProcesses, maxProcessesPerConnection } = limits;
  if (registry.runningCount > maxProcesses)
    throw new StartError('over-limit', `the server runs its limit of ${maxProcesses} processes`);
  if (registry.runningCountOf(session.id) > maxProcessesPerConnection)
    throw new StartError(
      'over-limit',
      `this session has its limit of ${maxProcessesPerConnection} processes`,
    );
}

async function openSpill({ engine, slot, request: { processId } }: Start): Promise<SpillFile> {
  const { spillDirectory: directory, spillBytes: limitBytes } = engine.limits;
  const spill = await openSpillFile({ directory, limitBytes, processId });
  if (!slot.isCancelled) return spill;
  await discardSpill(engine, spill);
  throw cancelled(slot);
}

async function discardSpill({ logger }: ProcessEngine, spill: SpillFile): Promise<void> {
  try {
    await discardSpillFile(spill);
  } catch (err) {
    logger.warn({ err }, 'the spill file of a process that did not start is left behind');
  }
}

/** What is waited for, unless the start is cancelled meanwhile: a file system may never answer. */
async function orCancelled<T>(waiting: Promise<T>, slot: ProcessSlot): Promise<T> {
  const result = await Promise.race([waiting, slot.cancelled]);
  if (slot.isCancelled) throw cancelled(slot);
  return result as T;
}

function cancelled({ processId }: ProcessSlot): StartError {
  return new StartError('cancelled', `process ${processId} start was cancelled`);
}

/** Waits for the snapshot, which the first command of its kind has to have captured; without one it is a plain start. */
async function manageFromSnapshot(
  start: Start,
  prepared: Prepared,
  { shell, request: wanted }: SnapshotChoice,
): Promise<ManagedProcess> {
  const { engine, session, slot } = start;
  const { plan, policy, rules } = prepared;
  const use = {
    request: wanted,
    shell,
    plan,
    envPolicy: rules.envPolicy,
    sandbox: policy && {
      key: await sandboxKey(policy),
      // Other starts wait for the same login, so that none of them ends it.
      launch: (login: LaunchPlan) => launchInSandbox({ engine, session }, policy, login),
    },
  };
  const snapshot = await Promise.race([engine.shellSnapshots.find(session, use), slot.cancelled]);
  if (slot.isCancelled) throw cancelled(slot);
  if (!snapshot) return manage(start, prepared);
  const replay = planReplay(plan, snapshot, rules);
  try {
    return await manage(start, { ...prepared, plan: replay.plan });
  } finally {
    replay.release();
  }
}

async function launchConfined(
  start: Start,
  policy: ResolvedPolicy,
  plan: LaunchPlan,
): Promise<LaunchedProcess> {
  try {
    const launched = await launchInSandbox(start, policy, plan, start.network?.doorway);
    start.network?.enter();
    return launched;
  } catch (error) {
    // Whatever the sandbox says of its end, that is why.
    throw start.slot.isCancelled ? cancelled(start.slot) : error;
  }
}

/** Launches a process and takes charge of it. Nothing comes between the two, so that who ends it finds it. */
async function manage(start: Start, { plan, policy, spill }: Prepared): Promise<ManagedProcess> {
  const { engine, session, slot, request } = start;
  const launched =
    policy === undefined ? engine.launcher.launch(plan) : await launchConfined(start, policy, plan);
  const end = handleEnd(start, launched.pid);
  session.answerFor(launched);
  recordStart(engine, session, request, launched);
  const process = new ManagedProcess({
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
    traffic: engine.metrics?.childTraffic,
    spill,
    sandbox: policy && { policy, cwd: request.cwd, clock: engine.clock },
    ...end,
  });
  slot.started(process);
  return process;
}

/** What is done when a process ends. It keeps nothing of the request but what it needs: environments are large. */
function handleEnd(
  { engine, session, slot, network, request: { processId, retainClosed } }: Start,
  pid: number,
): Pick<ManagedProcessOptions, 'onExited' | 'onClosed'> {
  const startedAt = engine.clock.now();
  return {
    onExited: (exit) => {
      engine.registry.noteEnded(slot);
      recordEnd(engine, session, { processId }, pid, exit, engine.clock.now() - startedAt);
    },
    onClosed: () => {
      network?.close();
      if (retainClosed === false || slot.process === undefined) engine.registry.forget(slot);
      // Its session has ended, and its time with it: nobody can ask any more.
      else if (engine.registry.find(slot.sessionId, processId) === slot)
        engine.closedProcesses.add(slot, slot.process.asClosed());
    },
  };
}

function asStartError(cause: unknown): StartError {
  if (cause instanceof StartError) return cause;
  // Sockets fail with errors of Node, which have the number, too.
  const error = toFileError(cause);
  if (error instanceof OsError || error instanceof SpillError)
    return new StartError('spawn-failed', error.message, { cause });
  return new StartError('spawn-failed', 'internal error while starting the process', { cause });
}
