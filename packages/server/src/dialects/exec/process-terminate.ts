import {
  internalError,
  type ProcessTerminateParams,
  type ProcessTerminateResult,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { type TerminateMode, terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';
import { findTarget } from './target.js';

export async function terminateProcess(
  params: ProcessTerminateParams,
  context: HandlerContext,
): Promise<ProcessTerminateResult> {
  const process = await findTarget(params, context, 'control');
  if (process === undefined) return { running: false, pids: [] };
  try {
    const { running, pids } = terminateOnRequest(process, toMode(params.mode), context.engine.clock);
    return { running, pids: [...pids] };
  } catch (error) {
    if (error instanceof OsError) throw internalError(`failed to terminate process: ${error.message}`);
    throw error;
  }
}

function toMode(mode: ProcessTerminateParams['mode']): TerminateMode {
  return mode === undefined || mode === 'force' ? 'force' : { graceMs: mode.graceful.timeoutMs };
}
