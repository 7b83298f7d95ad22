import {
  type app,
  checkBase64,
  decodeBase64,
  internalError,
  invalidParams,
  invalidRequest,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import type { TerminalSize } from '../../process/managed-process.js';
import { StdinGoneError } from '../../stdin/stdin-queue.js';
import type { HandlerContext } from '../dialect.js';
import { toBuffer } from '../file-content.js';
import { fileFailure } from '../os-failure.js';
import type { Runs } from './runs.js';

type WriteParams = Pick<app.CommandExecWriteParams, 'deltaBase64' | 'closeStdin'>;
type Context = Pick<HandlerContext, 'place' | 'signal' | 'content'>;

/** Writes to a process, ends its input, or both. Throws an `RpcError`. */
export async function writeToRun(
  runs: Runs,
  id: string,
  { deltaBase64, closeStdin = false }: WriteParams,
  { place, signal, content }: Context,
): Promise<Record<string, never>> {
  const { words } = runs;
  if (deltaBase64 === undefined && !closeStdin) throw invalidParams(words.emptyWrite);
  const taken = deltaBase64 === undefined ? undefined : toBuffer(content);
  const bytes = taken ?? decodeDelta(deltaBase64 ?? '');
  await runs.act(id, place, async (run) => {
    if (!run.takesInput) throw invalidRequest(words.noStdin, 'stdin_closed');
    try {
      await run.write(bytes, { end: closeStdin, signal });
    } catch (error) {
      throw error instanceof StdinGoneError ? invalidRequest(words.ended(id), 'stdin_closed') : error;
    }
  });
  return {};
}

function decodeDelta(text: string): Buffer {
  const problem = checkBase64(text);
  if (problem !== undefined) throw invalidParams(`invalid deltaBase64: ${problem}`);
  const { buffer, byteOffset, byteLength } = decodeBase64(text);
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Sets the size of a process's terminal. Throws an `RpcError`. */
export async function resizeRun(
  runs: Runs,
  id: string,
  size: TerminalSize,
  { place }: Context,
): Promise<Record<string, never>> {
  checkSize(runs, size);
  await runs.act(id, place, async (run) => run.resize(size));
  return {};
}

/** Refuses a terminal without a row or a column. */
export function checkSize({ words }: Runs, { rows, cols }: TerminalSize): void {
  if (rows === 0 || cols === 0) throw invalidParams(words.emptySize);
}

/** Kills a process with everything it started. Throws an `RpcError`. */
export async function terminateRun(
  runs: Runs,
  id: string,
  { place }: Context,
): Promise<Record<string, never>> {
  await runs.act(id, place, async (run) => {
    try {
      await run.terminate();
    } catch (error) {
      throw error instanceof OsError
        ? internalError(`failed to terminate process: ${error.message}`, ...fileFailure(error))
        : error;
    }
  });
  return {};
}
