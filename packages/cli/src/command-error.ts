import { toPrintableLines } from './client/printable.js';
import type { CommandIo } from './command-io.js';

/** What a command failed with, in words for the person who typed it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** What to do next. */
  readonly hint: string | undefined;
  /** @default that of the command's own failures */
  readonly exitCode: number | undefined;

  constructor(
    message: string,
    options: { readonly hint?: string; readonly exitCode?: number; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
    this.exitCode = options.exitCode;
  }
}

/** Says on stderr what went wrong, and what to do next where that is known. */
export function writeError({ stderr }: Pick<CommandIo, 'stderr'>, error: unknown): void {
  // The words may be those of a server, which must not give orders to the terminal.
  stderr.write(`Error: ${toPrintableLines(describe(error))}\n`);
  if (error instanceof CommandError && error.hint !== undefined)
    stderr.write(`${toPrintableLines(error.hint)}\n`);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // What Node says of this names neither the directory nor what to do.
  const isDirectoryGone = (error as NodeJS.ErrnoException).syscall === 'uv_cwd';
  return isDirectoryGone
    ? 'the current directory no longer exists. Change to one that does, and try again'
    : error.message;
}
