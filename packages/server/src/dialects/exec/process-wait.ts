import { invalidRequest, type ProcessWaitParams, type ProcessWaitResult } from '@exec-server/protocol';
import type { ManagedProcess } from '../../process/managed-process.js';
import { waitForExit } from '../../process/wait-for-exit.js';
import type { HandlerContext } from '../dialect.js';
import { findTarget } from './target.js';

export async function waitForProcess(
  params: ProcessWaitParams,
  context: HandlerContext,
): Promise<ProcessWaitResult> {
  const { processId, timeoutMs } = params;
  const { engine, signal, place } = context;
  const process = await findTarget(params, context, 'view');
  if (process === undefined) throw invalidRequest(`unknown process id ${processId}`);
  if (process.exit === undefined && timeoutMs !== 0)
    await place.park(waitForExit(process, { timeoutMs, clock: engine.clock, signal }));
  return describeOutcome(process);
}

/** What is known about the end of a process. */
export function describeOutcome({ exit, closed }: ManagedProcess): ProcessWaitResult {
  return {
    running: exit === undefined,
    exitCode: exit?.exitCode ?? null,
    signal: exit?.signal ?? null,
    timedOut: exit?.timedOut ?? false,
    closed,
  };
}
