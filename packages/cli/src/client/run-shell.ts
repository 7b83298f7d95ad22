import type { CommandIo } from '../command-io.js';
import type { RunFlags } from '../commands/run.js';
import { runProcess } from './run-process.js';

/** Runs the shell of the server's user, as a login shell. Returns what to exit with. */
export function runShell(flags: Pick<RunFlags, 'cwd'>, io: CommandIo): Promise<number> {
  return runProcess(
    async (machine) => [(await machine.environment()).shell.path, '-l'],
    { ...flags, stdin: true, tty: io.stdin.isTTY === true },
    io,
  );
}
