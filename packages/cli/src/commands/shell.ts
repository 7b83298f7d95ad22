import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions } from './connection-options.js';
import type { RunFlags } from './run.js';

/** Adds `shell`: a login shell over there. */
export function addShellCommand({ program, io, setExitCode }: CommandContext): void {
  const shell = program
    .command('shell')
    .description(
      "a login shell of the server's user: on a terminal where this one is, else for a script on stdin",
    )
    .usage('[OPTIONS]')
    .option('-w, --cwd <DIR>', "working directory [default: the server's]")
    .action(async (flags: Pick<RunFlags, 'cwd'>) => {
      const { runShell } = await import('../client/run-shell.js');
      setExitCode(await runShell(flags, io));
    });
  addConnectionOptions(shell);
  addExample(shell, 'exec-server shell --on box');
}
