import {
  invalidParams,
  MAX_CALLBACK_PROCESS_ID_BYTES,
  type NetworkProxyLaunch,
  type ProcessStartParams,
  type ProcessStartResult,
} from '@exec-server/protocol';
import * as engineStart from '../../process/start.js';
import type { HandlerContext } from '../dialect.js';
import { tellFailure } from './lifecycle-events.js';
import { startOnce } from './start-once.js';
import { answerStart, toStartRequest } from './start-request.js';

export function startProcess(
  params: ProcessStartParams,
  context: HandlerContext,
): Promise<ProcessStartResult> {
  return tellFailure(params, context, () => start(params, context));
}

function start(params: ProcessStartParams, context: HandlerContext): Promise<ProcessStartResult> {
  const { engine, session, place, trace } = context;
  if (params.networkProxy) checkDecisionCallback(params.processId, params.networkProxy);
  const extraEnv = new Map<string, string>();
  if (params.metadata?.threadId) extraEnv.set('CODEX_THREAD_ID', params.metadata.threadId);
  if (params.metadata?.toolCallId) extraEnv.set('CODEX_TOOL_CALL_ID', params.metadata.toolCallId);
  const { arg0, env, envPolicy, shellSnapshot, sandbox } = params;
  const command = { way: 'direct', arg0, env, envPolicy, shellSnapshot, extraEnv } as const;
  const request = toStartRequest(params, command, trace);
  const { networkProxy, enforceManagedNetwork, managedNetwork } = params;
  const confinement = { sandbox, networkProxy, enforceManagedNetwork, managedNetwork };
  return startOnce(params.startKey, context, () => {
    const starting = engineStart.startProcess(engine, session, request, confinement);
    // A login that is captured first may take seconds.
    return answerStart(shellSnapshot ? place.park(starting) : starting);
  });
}

/** A client that wants to be asked about a process has to be able to tell which one is meant, and to have time for it. */
function checkDecisionCallback(processId: string, { policyDecisionTimeoutMs }: NetworkProxyLaunch): void {
  if (policyDecisionTimeoutMs === undefined || policyDecisionTimeoutMs === null) return;
  if (policyDecisionTimeoutMs === 0)
    throw invalidParams('network policy decision callback timeout must be nonzero');
  const bytes = Buffer.byteLength(processId);
  if (bytes === 0 || bytes > MAX_CALLBACK_PROCESS_ID_BYTES)
    throw invalidParams(
      `callback-enabled process ID must be non-empty and at most ${MAX_CALLBACK_PROCESS_ID_BYTES} bytes`,
    );
}
