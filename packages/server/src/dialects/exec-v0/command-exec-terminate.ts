import type { v0 } from '@exec-server/protocol';
import { terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';
import { answerTerminate } from '../exec/process-terminate.js';
import { findCommand } from './find-command.js';

export function terminateCommand(
  { sessionId }: v0.CommandExecTerminateParams,
  context: HandlerContext,
): v0.CommandExecTerminateResult {
  const command = findCommand(sessionId, context);
  if (command === undefined) return { running: false };
  const { running } = answerTerminate(() => terminateOnRequest(command, 'force', context.engine.clock));
  return { running };
}
