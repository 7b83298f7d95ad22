import {
  internalError,
  type ProcessTerminateParams,
  type ProcessTerminateResult,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { findSlot } from '../../process/process-engine.js';
import { terminateOnRequest } from '../../terminate/on-request.js';
import type { HandlerContext } from '../dialect.js';

export function terminateProcess(
  params: ProcessTerminateParams,
  { engine, session }: HandlerContext,
): ProcessTerminateResult {
  const slot = findSlot(engine, session, params.processId);
  if (slot === undefined) return { running: false };
  if (slot.process === undefined) {
    slot.cancel();
    return { running: true };
  }
  try {
    return { running: terminateOnRequest(slot.process) };
  } catch (error) {
    if (error instanceof OsError) throw internalError(`failed to terminate process: ${error.message}`);
    throw error;
  }
}
