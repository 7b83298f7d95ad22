import { nativeToPathUri, type ProcessWaitParams, type ProcessWaitResult } from '@exec-server/protocol';
import type { ManagedProcess } from '../../process/managed-process.js';
import { hasOutcome, waitForOutcome } from '../../process/wait-for-outcome.js';
import type { HandlerContext } from '../dialect.js';
import { findTarget, unknownProcess } from './target.js';

export async function waitForProcess(
  params: ProcessWaitParams,
  context: HandlerContext,
): Promise<ProcessWaitResult> {
  const { timeoutMs } = params;
  const { engine, signal, place } = context;
  const process = await findTarget(params, context, 'view');
  if (process === undefined) throw unknownProcess(params, context);
  if (!hasOutcome(process) && timeoutMs !== 0)
    await place.park(waitForOutcome(process, { timeoutMs, clock: engine.clock, signal }));
  return describeOutcome(process);
}

/** What is known about the end of a process. */
export function describeOutcome({ exit, closed, spill, outputEvicted }: ManagedProcess): ProcessWaitResult {
  return {
    running: exit === undefined,
    exitCode: exit?.exitCode ?? null,
    signal: exit?.signal ?? null,
    timedOut: exit?.timedOut ?? false,
    closed,
    ...(outputEvicted && { outputEvicted }),
    ...(spill && { spill: { ...spill, path: nativeToPathUri(spill.path) } }),
  };
}
