import type { v0 } from '@exec-server/protocol';
import { terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';
import { answerTerminate } from '../exec/process-terminate.js';
import { findCommand } from './find-command.js';

export async function terminateCommand(
  { sessionId }: v0.CommandExecTerminateParams,
  context: HandlerContext,
): Promise<v0.CommandExecTerminateResult> {
  const command = findCommand(sessionId, context);
  if (command === undefined) return { running: false };
  const ending = terminateOnRequest(command, 'force', context.engine.clock);
  const { running } = await answerTerminate(ending);
  return { running };
}
