import {
  checkBase64,
  ForeignPathError,
  internalError,
  invalidParams,
  invalidRequest,
  type ProcessReadParams,
  type ProcessReadResult,
  type ProcessSignalParams,
  type ProcessStartParams,
  type ProcessStartResult,
  type ProcessTerminateParams,
  type ProcessTerminateResult,
  type ProcessWriteParams,
  type ProcessWriteResult,
  pathUriToNative,
  type RpcError,
} from '@exec-server/protocol';
import { OsError } from '../../native/os-error.js';
import { hasNewsFor, readFromCursor } from '../../output/read-from-cursor.js';
import { waitForNews } from '../../output/wait-for-news.js';
import type { StartRequest } from '../../process/launch-plan.js';
import { findStarted } from '../../process/process-engine.js';
import * as starting from '../../process/start.js';
import { StartError } from '../../process/start-error.js';
import { StdinGoneError } from '../../stdin/stdin-queue.js';
import { terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';

const SIGINT = 2;

export async function startProcess(
  params: ProcessStartParams,
  { engine, session }: HandlerContext,
): Promise<ProcessStartResult> {
  if (params.networkProxy) throw invalidParams('executor-local network proxies are not available on this executor');
  const request = toStartRequest(params);
  try {
    const process = await starting.startProcess(engine, session, request, { sandbox: params.sandbox });
    return { processId: process.id, sandboxType: 'none' };
  } catch (error) {
    throw error instanceof StartError ? startErrorToRpc(error) : error;
  }
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
    extraEnv,
    tty: params.tty,
    pipeStdin: params.pipeStdin ?? false,
  };
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
      return invalidRequest(error.message);
    case 'spawn-failed':
      return internalError(error.message);
  }
}

export async function readProcess(
  params: ProcessReadParams,
  { engine, session, signal, place }: HandlerContext,
): Promise<ProcessReadResult> {
  const process = await findStarted(engine, session, params.processId);
  if (process === undefined) throw invalidRequest(`unknown process id ${params.processId}`);
  const cursor = { afterSeq: params.afterSeq ?? 0, maxBytes: params.maxBytes ?? undefined };
  const waitMs = params.waitMs ?? 0;
  if (waitMs > 0 && !hasNewsFor(process, cursor))
    await place.park(waitForNews(process, cursor, { waitMs, clock: engine.clock, signal }));
  const { chunks, nextSeq } = readFromCursor(process, cursor);
  return {
    chunks: chunks.map(({ seq, stream, data }) => ({ seq, stream, chunk: data.toString('base64') })),
    nextSeq,
    exited: process.exit !== undefined,
    exitCode: process.exit?.exitCode ?? null,
    closed: process.closed,
    failure: null,
    sandboxDenied: process.exit?.sandboxDenied ?? false,
  };
}

export async function writeProcess(
  params: ProcessWriteParams,
  { engine, session, signal, place }: HandlerContext,
): Promise<ProcessWriteResult> {
  const invalid = checkBase64(params.chunk);
  if (invalid !== undefined) throw invalidParams(invalid);
  const writeId = params.writeId ?? undefined;
  if (writeId === '') throw invalidParams('writeId must not be empty');
  const process = await findStarted(engine, session, params.processId);
  if (process === undefined) return { status: 'unknownProcess' };
  if (process.stdin === undefined) return { status: 'stdinClosed' };
  try {
    await place.park(process.stdin.write(Buffer.from(params.chunk, 'base64'), { writeId, signal }));
    return { status: 'accepted' };
  } catch (error) {
    throw error instanceof StdinGoneError ? internalError(error.message) : error;
  }
}

export async function signalProcess(
  params: ProcessSignalParams,
  { engine, session }: HandlerContext,
): Promise<Record<string, never>> {
  const process = await findStarted(engine, session, params.processId);
  try {
    if (process?.exit === undefined) process?.signalGroup(SIGINT);
  } catch (error) {
    if (error instanceof OsError) throw internalError(`failed to signal process: ${error.message}`);
    throw error;
  }
  return {};
}

export async function terminateProcess(
  params: ProcessTerminateParams,
  { engine, session }: HandlerContext,
): Promise<ProcessTerminateResult> {
  const process = await findStarted(engine, session, params.processId);
  return { running: process !== undefined && terminateOnRequest(process) };
}
