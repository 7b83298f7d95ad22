import {
  checkBase64,
  internalError,
  invalidParams,
  type ProcessWriteParams,
  type ProcessWriteResult,
} from '@exec-server/protocol';
import { findStarted } from '../../process/process-engine.js';
import { StdinGoneError } from '../../stdin/stdin-queue.js';
import type { HandlerContext } from '../dialect.js';

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
