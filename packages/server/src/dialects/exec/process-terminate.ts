import {
  internalError,
  type ProcessTerminateParams,
  type ProcessTerminateResult,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import {
  killLeftovers,
  NOT_RUNNING,
  type TerminateMode,
  type TerminateOutcome,
  terminateOnRequest,
} from '../../terminate/on-request.js';
import { untilGone, untilMembersGone } from '../../terminate/until-gone.js';
import type { HandlerContext } from '../dialect.js';
import { fileFailure } from '../os-failure.js';
import { findTargetSlot } from './target.js';

export async function terminateProcess(
  params: ProcessTerminateParams,
  context: HandlerContext,
): Promise<ProcessTerminateResult> {
  const { killStragglers, running, pids, members } = await signalTree(params, context);
  if (params.wait !== true) return { running, pids: [...pids] };
  const { engine, signal, place } = context;
  const options = { clock: engine.clock, signal };
  const killRest = async () => {
    const rest = (await killStragglers?.().catch(refuse)) ?? [];
    await untilGone(rest, options);
    return rest;
  };
  const [, rest] = await place.park(Promise.all([untilMembersGone(members, options), killRest()]));
  return { running, pids: [...new Set([...pids, ...rest])] };
}

async function signalTree(
  params: ProcessTerminateParams,
  context: HandlerContext,
): Promise<TerminateOutcome> {
  const slot = findTargetSlot(params, context, 'control');
  if (slot === undefined) return NOT_RUNNING;
  if (slot.process === undefined) {
    slot.cancel();
    return { ...NOT_RUNNING, running: true };
  }
  const { process } = slot;
  return answerTerminate(
    params.leftovers === true && process.exit !== undefined
      ? killLeftovers(process)
      : terminateOnRequest(process, toMode(params.mode), context.engine.clock),
  );
}

/** Awaits the end of a process and says in the words of the wire why that failed. */
export function answerTerminate(ending: Promise<TerminateOutcome>): Promise<TerminateOutcome> {
  return ending.catch(refuse);
}

function refuse(error: unknown): never {
  if (error instanceof OsError)
    throw internalError(`failed to terminate process: ${error.message}`, ...fileFailure(error));
  throw error;
}

function toMode(mode: ProcessTerminateParams['mode']): TerminateMode {
  if (mode === undefined || mode === 'force') return 'force';
  const { timeoutMs: graceMs, signal } = mode.graceful;
  return { graceMs, ...(signal !== undefined && { signal }) };
}
