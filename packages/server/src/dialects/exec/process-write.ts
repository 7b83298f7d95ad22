import {
  internalError,
  invalidParams,
  type ProcessCloseStdinParams,
  type ProcessCloseStdinResult,
  type ProcessWriteParams,
  type ProcessWriteResult,
} from '@exec-server/protocol';
import { findStarted } from '../../process/process-engine.js';
import { StdinGoneError, type WriteOptions } from '../../stdin/stdin-queue.js';
import type { HandlerContext } from '../dialect.js';

export function writeProcess(
  params: ProcessWriteParams,
  context: HandlerContext,
): Promise<ProcessWriteResult> {
  const { processId, chunk, writeId, closeStdin: end } = params;
  if (writeId === '') throw invalidParams('writeId must not be empty');
  return writeTo(processId, Buffer.from(chunk, 'base64'), { writeId, end }, context);
}

export function closeProcessStdin(
  { processId }: ProcessCloseStdinParams,
  context: HandlerContext,
): Promise<ProcessCloseStdinResult> {
  return writeTo(processId, new Uint8Array(), { end: true }, context);
}

async function writeTo(
  processId: string,
  bytes: Uint8Array,
  options: Omit<WriteOptions, 'signal'>,
  { engine, session, signal, place }: HandlerContext,
): Promise<ProcessWriteResult> {
  const process = await findStarted(engine, session, processId);
  if (process === undefined) return { status: 'unknownProcess' };
  if (process.stdin === undefined) return { status: 'stdinClosed' };
  if (process.stdin.ended && !process.stdin.knows(options.writeId)) return { status: 'stdinClosed' };
  try {
    await place.park(process.stdin.write(bytes, { ...options, signal }));
    return { status: 'accepted' };
  } catch (error) {
    throw error instanceof StdinGoneError ? internalError(error.message) : error;
  }
}
