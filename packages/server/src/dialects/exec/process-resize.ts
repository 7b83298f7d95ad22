import {
  internalError,
  invalidParams,
  invalidRequest,
  type ProcessResizeParams,
  type TerminalSize,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import type { HandlerContext } from '../dialect.js';
import { findTarget, unknownProcess } from './target.js';

export async function resizeProcess(
  params: ProcessResizeParams,
  context: HandlerContext,
): Promise<Record<string, never>> {
  const { processId, rows, cols } = params;
  checkTerminalSize({ rows, cols });
  const process = await findTarget(params, context, 'control');
  if (process === undefined) throw unknownProcess(params, context);
  if (!process.description.tty) throw invalidRequest(`process ${processId} has no terminal`, 'no_terminal');
  // A terminal that is gone has no size, and nobody is left who would look at it.
  if (process.closed) return {};
  try {
    process.resize({ rows, cols });
  } catch (error) {
    throw error instanceof OsError ? internalError(`failed to resize the terminal: ${error.message}`) : error;
  }
  return {};
}

/** Refuses a terminal without a row or a column. */
export function checkTerminalSize({ rows, cols }: TerminalSize): void {
  if (rows === 0 || cols === 0) throw invalidParams('rows and cols must be greater than 0');
}
