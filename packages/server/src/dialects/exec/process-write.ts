import {
  internalError,
  invalidParams,
  type ProcessCloseStdinParams,
  type ProcessCloseStdinResult,
  type ProcessWriteParams,
  type ProcessWriteResult,
} from '@exec-server/protocol';
import { StdinGoneError, type WriteOptions } from '../../stdin/stdin-queue.js';
import type { HandlerContext } from '../dialect.js';
import { findTarget, type TargetParams } from './target.js';

export function writeProcess(
  params: ProcessWriteParams,
  context: HandlerContext,
): Promise<ProcessWriteResult> {
  const { chunk, writeId, closeStdin: end } = params;
  if (writeId === '') throw invalidParams('writeId must not be empty');
  return writeTo(params, context.content ?? Buffer.from(chunk, 'base64'), { writeId, end }, context);
}

export function closeProcessStdin(
  params: ProcessCloseStdinParams,
  context: HandlerContext,
): Promise<ProcessCloseStdinResult> {
  return writeTo(params, new Uint8Array(), { end: true }, context);
}

async function writeTo(
  target: TargetParams,
  bytes: Uint8Array,
  options: Omit<WriteOptions, 'signal'>,
  context: HandlerContext,
): Promise<ProcessWriteResult> {
  const { signal, place } = context;
  const process = await findTarget(target, context, 'control');
  if (process === undefined) return { status: 'unknownProcess' };
  if (process.stdin === undefined) return { status: 'stdinClosed' };
  if (process.stdin.ended && !process.stdin.knows(options.writeId)) return { status: 'stdinClosed' };
  try {
    await place.park(process.stdin.write(bytes, { ...options, signal }));
    return { status: 'accepted' };
  } catch (error) {
    throw error instanceof StdinGoneError ? internalError(error.message, 'stdin_closed') : error;
  }
}
