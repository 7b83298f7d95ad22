import {
  ForeignPathError,
  internalError,
  invalidParams,
  invalidRequest,
  type ProcessStartPreparedParams,
  type ProcessStartResult,
  pathUriToNative,
  type RpcError,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { type StartRequest, withVariables } from '../../process/launch-plan.js';
import type { ManagedProcess } from '../../process/managed-process.js';
import { StartError } from '../../process/start-error.js';
import { PolicyError } from '../../sandbox/policy/policy-error.js';
import { type CallerTrace, describeForChild } from '../../telemetry/tracing/caller-trace.js';
import { spawnFailure } from '../os-failure.js';
import { checkTerminalSize } from './process-resize.js';

/** Names and values of all tags of a process, in UTF-16 units: they are words to find it by, not a place for data. */
const MAX_TAG_CHARACTERS = 65_536;

/** What every way to start a process has in common. */
type CommonParams = Omit<ProcessStartPreparedParams, 'program' | 'env'>;

/** Decodes what is the same for every way to start. Throws an {@link RpcError}. */
export function toStartRequest(
  params: CommonParams,
  command: StartRequest['command'],
  trace: CallerTrace | undefined,
): StartRequest {
  const { timeoutMs, graceMs } = params;
  if (graceMs !== undefined && timeoutMs === undefined) throw invalidParams('graceMs requires timeoutMs');
  const request: StartRequest = {
    processId: params.processId,
    command,
    argv: params.argv,
    cwd: nativeCwd(params.cwd),
    cwdText: params.cwd,
    tty: params.tty,
    pipeStdin: params.pipeStdin ?? false,
    size: terminalSize(params),
    timeLimit: timeoutMs === undefined ? undefined : { timeoutMs, graceMs: graceMs ?? 0 },
    outputBytesCap: params.outputBytesCap,
    keepAliveMs: params.keepAliveMs,
    startKey: params.startKey,
    spill: params.spill,
    tags: checkedTags(params.tags ?? {}),
  };
  return params.traceEnv && trace ? withVariables(request, describeForChild(trace)) : request;
}

function checkedTags(tags: StartRequest['tags']): StartRequest['tags'] {
  const characters = Object.entries(tags).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (characters > MAX_TAG_CHARACTERS)
    throw invalidParams(`tags must not have more than ${MAX_TAG_CHARACTERS} characters`);
  return tags;
}

/** Answers a start once it is over. Throws an {@link RpcError}. */
export async function answerStart(starting: Promise<ManagedProcess>): Promise<ProcessStartResult> {
  return describeStarted(await answerFailedStart(starting));
}

export function describeStarted(process: ManagedProcess): ProcessStartResult {
  return {
    processId: process.id,
    sandboxType: process.confined ? 'linuxSeccomp' : 'none',
    pid: process.programPid,
  };
}

/** Awaits a start and says in the words of the wire why it failed. Throws an {@link RpcError}. */
export async function answerFailedStart(starting: Promise<ManagedProcess>): Promise<ManagedProcess> {
  try {
    return await starting;
  } catch (error) {
    throw error instanceof StartError ? startErrorToRpc(error) : error;
  }
}

function terminalSize({ size, tty }: CommonParams): StartRequest['size'] {
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
    throw invalidParams(
      `cwd URI \`${uri}\` is not valid on this exec-server host: ${error.message}`,
      'foreign_path',
    );
  }
}

function startErrorToRpc({ failure, message, cause }: StartError): RpcError {
  switch (failure) {
    case 'empty-argv':
      return invalidParams(message);
    case 'refused':
      return invalidParams(message, cause instanceof PolicyError ? 'sandbox_refused' : 'invalid_params');
    case 'id-taken':
      return invalidRequest(message, 'process_exists');
    case 'over-limit':
      return invalidRequest(message, 'limit_reached');
    case 'not-allowed':
      return invalidRequest(message, 'start_forbidden');
    case 'cancelled':
      return invalidRequest(message, 'start_cancelled');
    case 'spawn-failed':
      return internalError(message, ...spawnFailure(cause instanceof OsError ? cause : undefined));
  }
}
