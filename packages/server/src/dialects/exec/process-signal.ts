import { internalError, type ProcessSignalParams } from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { findStarted } from '../../process/process-engine.js';
import { signalNumber } from '../../process/signal-names.js';
import type { HandlerContext } from '../dialect.js';

export async function signalProcess(
  params: ProcessSignalParams,
  { engine, session }: HandlerContext,
): Promise<Record<string, never>> {
  const process = await findStarted(engine, session, params.processId);
  try {
    const number = signalNumber(params.signal === 'interrupt' ? 'SIGINT' : params.signal);
    if (process?.exit === undefined) process?.signalGroup(number);
  } catch (error) {
    if (error instanceof OsError) throw internalError(`failed to signal process: ${error.message}`);
    throw error;
  }
  return {};
}
