import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';

/** What commands are added to, and with. */
export interface CommandContext {
  readonly program: Command;
  readonly io: CommandIo;
  /** Says what the process exits with. @default 0 */
  readonly setExitCode: (code: number) => void;
}

/** Ends the help of a command with a line that can be typed as it stands. */
export function addExample(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExample:\n${lines.map((line) => `  ${line}\n`).join('')}`);
}
