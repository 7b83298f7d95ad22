import { FileSystemError } from '@exec-server/client';
import { toPrintable } from '../client/printable.js';
import type { CommandIo } from '../command-io.js';
import { ExitCode } from '../exit-codes.js';

/**
 * Does something with each path in turn. A file that cannot be had is told and does not keep the others from their turn;
 * any other failure ends it. Returns what to exit with.
 */
export async function forEachPath(
  paths: readonly string[],
  io: Pick<CommandIo, 'stderr'>,
  use: (path: string) => Promise<void>,
): Promise<number> {
  let exitCode: number = ExitCode.success;
  for (const path of paths) {
    try {
      await use(path);
    } catch (error) {
      if (!(error instanceof FileSystemError)) throw error;
      io.stderr.write(`Error: ${toPrintable(error.message)}\n`);
      exitCode = ExitCode.failure;
    }
  }
  return exitCode;
}
