import {
  internalError,
  type ProcessTerminateParams,
  type ProcessTerminateResult,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { findStarted } from '../../process/process-engine.js';
import { terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';

export async function terminateProcess(
  params: ProcessTerminateParams,
  { engine, session }: HandlerContext,
): Promise<ProcessTerminateResult> {
  const process = await findStarted(engine, session, params.processId);
  try {
    return { running: process !== undefined && terminateOnRequest(process) };
  } catch (error) {
    if (error instanceof OsError) throw internalError(`failed to terminate process: ${error.message}`);
    throw error;
  }
}
