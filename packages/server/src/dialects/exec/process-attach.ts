import {
  invalidRequest,
  type ProcessAttachParams,
  type ProcessAttachResult,
  type ProcessDetachParams,
  type ProcessDetachResult,
} from '@exec-server/protocol';
import type { HandlerContext } from '../dialect.js';
import { Attachments } from './attachments.js';
import { describeProcess } from './process-list.js';
import { findTarget, unknownProcess } from './target.js';

export async function attachProcess(
  params: ProcessAttachParams,
  context: HandlerContext,
): Promise<ProcessAttachResult> {
  const { processId, sessionId = context.session.id, afterSeq = 0, mode = 'view' } = params;
  const process = await findTarget({ processId, sessionId }, context, 'view');
  if (process === undefined) throw unknownProcess(params, context);
  // A session's own connection is told everything anyway; twice would look like two processes.
  if (sessionId === context.session.id)
    throw invalidRequest(`process ${processId} is of this session, whose events arrive without attaching`);
  const { attachedProcesses: limit, viewerQueueBytes, outboundHighWaterBytes } = context.engine.limits;
  // Below the connection's own mark there would be no event to wait for.
  const queueBytes = Math.max(viewerQueueBytes, outboundHighWaterBytes);
  const result = describeProcess(sessionId, process);
  context.connection.keep(Attachments).attach(process, { sessionId, afterSeq, mode, limit, queueBytes });
  return result;
}

export async function detachProcess(
  params: ProcessDetachParams,
  context: HandlerContext,
): Promise<ProcessDetachResult> {
  // An attachment to a process that is starting waits for that, and so does its end, to come behind it.
  const process = await findTarget(params, context, 'view');
  const { connection, session } = context;
  const { processId, sessionId } = params;
  const isForeign = sessionId !== undefined && sessionId !== session.id;
  if (isForeign && process !== undefined) session.release(process);
  return { attached: connection.keep(Attachments).detach(sessionId ?? session.id, processId) };
}
