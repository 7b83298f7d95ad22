import {
  internalError,
  type ProcessTerminateParams,
  type ProcessTerminateResult,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import {
  killLeftovers,
  type TerminateMode,
  type TerminateOutcome,
  terminateOnRequest,
} from '../../terminate/on-request.js';
import { untilGone } from '../../terminate/until-gone.js';
import type { HandlerContext } from '../dialect.js';
import { findTargetSlot } from './target.js';

export function terminateProcess(
  params: ProcessTerminateParams,
  context: HandlerContext,
): ProcessTerminateResult | Promise<ProcessTerminateResult> {
  const { killStragglers, running, pids } = signalTree(params, context);
  if (params.wait !== true) return { running, pids: [...pids] };
  const { engine, signal, place } = context;
  const waitFor = (ending: readonly number[]) => untilGone(ending, { clock: engine.clock, signal });
  const killRest = async () => {
    const rest = (await killStragglers?.().catch(refuse)) ?? [];
    await waitFor(rest);
    return rest;
  };
  // Numbers are looked up right after the signal, while they are still those of who got it.
  return place
    .park(Promise.all([waitFor(pids), killRest()]))
    .then(([, rest]) => ({ running, pids: [...new Set([...pids, ...rest])] }));
}

function signalTree(params: ProcessTerminateParams, context: HandlerContext): TerminateOutcome {
  const slot = findTargetSlot(params, context, 'control');
  if (slot === undefined) return { running: false, pids: [] };
  if (slot.process === undefined) {
    slot.cancel();
    return { running: true, pids: [] };
  }
  const { process } = slot;
  return answerTerminate(() => {
    if (params.leftovers === true && process.exit !== undefined) return killLeftovers(process);
    return terminateOnRequest(process, toMode(params.mode), context.engine.clock);
  });
}

/** Ends a process and says in the words of the wire why that failed. */
export function answerTerminate(terminate: () => TerminateOutcome): TerminateOutcome {
  try {
    return terminate();
  } catch (error) {
    refuse(error);
  }
}

function refuse(error: unknown): never {
  if (error instanceof OsError) throw internalError(`failed to terminate process: ${error.message}`);
  throw error;
}

function toMode(mode: ProcessTerminateParams['mode']): TerminateMode {
  if (mode === undefined || mode === 'force') return 'force';
  const { timeoutMs: graceMs, signal } = mode.graceful;
  return { graceMs, ...(signal !== undefined && { signal }) };
}
