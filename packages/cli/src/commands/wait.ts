import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, type ConnectionFlags } from './connection-options.js';
import { DURATION_HELP, parseDuration } from './flag-values.js';
import { addSessionOption } from './session-option.js';

const TIMEOUT = '--timeout <DURATION>';

export interface WaitFlags extends ConnectionFlags {
  readonly timeout?: number;
  readonly session?: string;
}

/** Adds `wait`: waits for the end of processes. */
export function addWaitCommand({ program, io, setExitCode }: CommandContext): void {
  const wait = program
    .command('wait')
    .description('wait for the end of processes, and exit as the last of them did')
    .usage('[OPTIONS] ID...')
    .argument('<id...>', 'ids of the processes, or how they begin')
    .option(TIMEOUT, `give up after so long, with exit code 124 (${DURATION_HELP})`, parseDuration(TIMEOUT))
    .action(async (ids: string[], flags: WaitFlags) => {
      const { waitForProcesses } = await import('../client/wait-for-processes.js');
      setExitCode(await waitForProcesses(ids, flags, io));
    });
  addConnectionOptions(addSessionOption(wait));
  addExample(wait, 'exec-server wait build-42 --timeout 10m --connect ws://127.0.0.1:7711');
}
