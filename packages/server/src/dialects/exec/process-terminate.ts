import type { ProcessTerminateParams, ProcessTerminateResult } from '@exec-server/protocol';
import { findStarted } from '../../process/process-engine.js';
import { terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';

export async function terminateProcess(
  params: ProcessTerminateParams,
  { engine, session }: HandlerContext,
): Promise<ProcessTerminateResult> {
  const process = await findStarted(engine, session, params.processId);
  return { running: process !== undefined && terminateOnRequest(process) };
}
