import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, type ConnectionFlags } from './connection-options.js';
import { addSessionOption } from './session-option.js';

export interface RmFlags extends ConnectionFlags {
  readonly force?: boolean;
  readonly session?: string;
}

/** Adds `rm`: has the server forget processes. */
export function addRmCommand({ program, io, setExitCode }: CommandContext): void {
  const rm = program
    .command('rm')
    .description('forget processes that have ended, with their output, before their time; spill files stay')
    .usage('[OPTIONS] ID...')
    .argument('<id...>', 'ids of the processes, or how they begin')
    .option('-f, --force', 'end those that run first')
    .action(async (ids: string[], flags: RmFlags) => {
      const { removeProcesses } = await import('../client/remove-processes.js');
      setExitCode(await removeProcesses(ids, flags, io));
    });
  addConnectionOptions(addSessionOption(rm));
  addExample(rm, 'exec-server rm build-42 --connect ws://127.0.0.1:7711');
}
