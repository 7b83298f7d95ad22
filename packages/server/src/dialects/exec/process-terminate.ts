import {
  internalError,
  type ProcessTerminateParams,
  type ProcessTerminateResult,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { type TerminateMode, type TerminateOutcome, terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';
import { findTargetSlot } from './target.js';

export function terminateProcess(
  params: ProcessTerminateParams,
  context: HandlerContext,
): ProcessTerminateResult {
  const slot = findTargetSlot(params, context, 'control');
  if (slot === undefined) return { running: false, pids: [] };
  if (slot.process === undefined) {
    slot.cancel();
    return { running: true, pids: [] };
  }
  const { process } = slot;
  const { running, pids } = answerTerminate(() =>
    terminateOnRequest(process, toMode(params.mode), context.engine.clock),
  );
  return { running, pids: [...pids] };
}

/** Ends a process and says in the words of the wire why that failed. */
export function answerTerminate(terminate: () => TerminateOutcome): TerminateOutcome {
  try {
    return terminate();
  } catch (error) {
    if (error instanceof OsError) throw internalError(`failed to terminate process: ${error.message}`);
    throw error;
  }
}

function toMode(mode: ProcessTerminateParams['mode']): TerminateMode {
  return mode === undefined || mode === 'force' ? 'force' : { graceMs: mode.graceful.timeoutMs };
}
