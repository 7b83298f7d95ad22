import type { ProcessTerminateParams, ProcessTerminateResult } from '@exec-server/protocol';
import { findStarted } from '../../process/process-engine.js';
import { type TerminateMode, terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';

export async function terminateProcess(
  params: ProcessTerminateParams,
  { engine, session }: HandlerContext,
): Promise<ProcessTerminateResult> {
  const process = await findStarted(engine, session, params.processId);
  if (process === undefined) return { running: false, pids: [] };
  const { running, pids } = terminateOnRequest(process, toMode(params.mode), engine.clock);
  return { running, pids: [...pids] };
}

function toMode(mode: ProcessTerminateParams['mode']): TerminateMode {
  return mode === undefined || mode === 'force' ? 'force' : { graceMs: mode.graceful.timeoutMs };
}
