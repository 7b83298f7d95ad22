import { invalidRequest, type ProcessRemoveParams, type ProcessRemoveResult } from '@exec-server/protocol';
import type { HandlerContext } from '../dialect.js';
import { findTargetSlot, unknownProcess } from './target.js';

/** Forgets a process that has ended, before its time. Its spill file stays. */
export function removeProcess(params: ProcessRemoveParams, context: HandlerContext): ProcessRemoveResult {
  const slot = findTargetSlot(params, context, 'view');
  if (slot === undefined) throw unknownProcess(params, context);
  if (!context.engine.closedProcesses.remove(slot))
    throw invalidRequest(
      slot.process?.exit === undefined
        ? `process ${params.processId} is running; terminate it first`
        : `process ${params.processId} has ended, but others hold its output open; terminate it first`,
    );
  return {};
}
