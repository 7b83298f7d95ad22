import { invalidParams, type ProcessStartParams, type ProcessStartResult } from '@exec-server/protocol';
import * as engineStart from '../../process/start.js';
import type { LifecycleEvent } from '../../sessions/session.js';
import type { ConnectionScope, HandlerContext } from '../dialect.js';
import { answerStart, toStartRequest } from './start-request.js';

export function startProcess(
  params: ProcessStartParams,
  { engine, session, place }: HandlerContext,
): Promise<ProcessStartResult> {
  if (params.networkProxy)
    throw invalidParams('executor-local network proxies are not available on this executor');
  const extraEnv = new Map<string, string>();
  if (params.metadata?.threadId) extraEnv.set('CODEX_THREAD_ID', params.metadata.threadId);
  if (params.metadata?.toolCallId) extraEnv.set('CODEX_TOOL_CALL_ID', params.metadata.toolCallId);
  const { arg0, env, envPolicy, shellSnapshot, sandbox } = params;
  const request = toStartRequest(params, { way: 'direct', arg0, env, envPolicy, shellSnapshot, extraEnv });
  const starting = engineStart.startProcess(engine, session, request, { sandbox });
  // A login that is captured first may take seconds.
  return answerStart(shellSnapshot ? place.park(starting) : starting);
}

/** Tells a client what became of a start, beside the answer to whoever asked for it. */
export function notifyLifecycle(connection: ConnectionScope, { kind, ...params }: LifecycleEvent): void {
  connection.notify(`process/${kind}`, params);
}
