import { internalError, type ProcessSignalParams } from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { signalNumber } from '../../process/signal-names.js';
import type { HandlerContext } from '../dialect.js';
import { fileFailure } from '../os-failure.js';
import { findTarget } from './target.js';

export async function signalProcess(
  params: ProcessSignalParams,
  context: HandlerContext,
): Promise<Record<string, never>> {
  const process = await findTarget(params, context, 'control');
  try {
    const number = signalNumber(params.signal === 'interrupt' ? 'SIGINT' : params.signal);
    if (process?.exit === undefined) process?.signalGroup(number);
  } catch (error) {
    if (error instanceof OsError)
      throw internalError(`failed to signal process: ${error.message}`, ...fileFailure(error));
    throw error;
  }
  return {};
}
