import {
  ForeignPathError,
  internalError,
  invalidParams,
  invalidRequest,
  type ProcessStartParams,
  type ProcessStartResult,
  pathUriToNative,
  type RpcError,
} from '@exec-server/protocol';
import type { StartRequest } from '../../process/launch-plan.js';
import * as engineStart from '../../process/start.js';
import { StartError } from '../../process/start-error.js';
import type { LifecycleEvent } from '../../sessions/session.js';
import type { ConnectionScope, HandlerContext } from '../dialect.js';
import { checkTerminalSize } from './process-resize.js';

export async function startProcess(
  params: ProcessStartParams,
  { engine, session, place }: HandlerContext,
): Promise<ProcessStartResult> {
  if (params.networkProxy)
    throw invalidParams('executor-local network proxies are not available on this executor');
  if (params.graceMs !== undefined && params.timeoutMs === undefined)
    throw invalidParams('graceMs requires timeoutMs');
  const request = toStartRequest(params);
  try {
    const started = engineStart.startProcess(engine, session, request, { sandbox: params.sandbox });
    // A login that is captured first may take seconds.
    const process = await (request.shellSnapshot ? place.park(started) : started);
    return { processId: process.id, sandboxType: 'none', pid: process.pid };
  } catch (error) {
    throw error instanceof StartError ? startErrorToRpc(error) : error;
  }
}

/** Tells a client what became of a start, beside the answer to whoever asked for it. */
export function notifyLifecycle(connection: ConnectionScope, { kind, ...params }: LifecycleEvent): void {
  connection.notify(`process/${kind}`, params);
}

function toStartRequest(params: ProcessStartParams): StartRequest {
  const extraEnv = new Map<string, string>();
  if (params.metadata?.threadId) extraEnv.set('CODEX_THREAD_ID', params.metadata.threadId);
  if (params.metadata?.toolCallId) extraEnv.set('CODEX_TOOL_CALL_ID', params.metadata.toolCallId);
  return {
    processId: params.processId,
    argv: params.argv,
    arg0: params.arg0 ?? undefined,
    cwd: nativeCwd(params.cwd),
    cwdText: params.cwd,
    env: params.env,
    envPolicy: params.envPolicy ?? undefined,
    shellSnapshot: params.shellSnapshot ?? undefined,
    extraEnv,
    tty: params.tty,
    pipeStdin: params.pipeStdin ?? false,
    size: terminalSize(params),
    timeLimit:
      params.timeoutMs === undefined
        ? undefined
        : { timeoutMs: params.timeoutMs, graceMs: params.graceMs ?? 0 },
    outputBytesCap: params.outputBytesCap,
    keepAliveMs: params.keepAliveMs,
    spill: params.spill,
    tags: params.tags ?? {},
  };
}

function terminalSize({ size, tty }: ProcessStartParams): StartRequest['size'] {
  if (size === undefined) return undefined;
  if (!tty) throw invalidParams('size requires tty');
  checkTerminalSize(size);
  return size;
}

function nativeCwd(uri: string): Uint8Array {
  try {
    return pathUriToNative(uri);
  } catch (error) {
    if (!(error instanceof ForeignPathError)) throw error;
    throw invalidParams(`cwd URI \`${uri}\` is not valid on this exec-server host: ${error.message}`);
  }
}

function startErrorToRpc(error: StartError): RpcError {
  switch (error.failure) {
    case 'empty-argv':
    case 'refused':
      return invalidParams(error.message);
    case 'id-taken':
    case 'cancelled':
      return invalidRequest(error.message);
    case 'spawn-failed':
      return internalError(error.message);
  }
}
