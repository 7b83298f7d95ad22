import { internalError, invalidRequest, type v0 } from '@exec-server/protocol';
import { StdinGoneError } from '../../stdin/stdin-queue.js';
import type { HandlerContext } from '../dialect.js';
import { findCommand } from './find-command.js';

export async function writeToCommand(
  { sessionId, chunk }: v0.CommandExecWriteParams,
  context: HandlerContext,
): Promise<v0.CommandExecWriteResult> {
  const command = findCommand(sessionId, context);
  if (command === undefined) throw invalidRequest(`unknown session id ${sessionId}`, 'process_unknown');
  if (command.stdin === undefined)
    throw invalidRequest(`stdin is closed for session ${sessionId}`, 'stdin_closed');
  try {
    const bytes = context.content ?? Buffer.from(chunk, 'base64');
    await context.place.park(command.stdin.write(bytes, { signal: context.signal }));
    return { accepted: true };
  } catch (error) {
    throw error instanceof StdinGoneError ? internalError(error.message, 'stdin_closed') : error;
  }
}
