import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, addJsonOption, type ConnectionFlags } from './connection-options.js';
import { addSessionOption } from './session-option.js';

export interface InspectFlags extends ConnectionFlags {
  readonly session?: string;
  readonly json?: boolean;
}

/** Adds `inspect`: tells everything that the server knows of a process. */
export function addInspectCommand({ program, io }: CommandContext): void {
  const inspect = program
    .command('inspect')
    .description('tell what a process was started as, what became of it, and where its output is')
    .usage('[OPTIONS] ID')
    .argument('<id>', 'id of the process, or how it begins')
    .action(async (id: string, flags: InspectFlags) => {
      const { inspectProcess } = await import('../client/inspect-process.js');
      await inspectProcess(id, flags, io);
    });
  addJsonOption(addConnectionOptions(addSessionOption(inspect)));
  addExample(inspect, 'exec-server inspect build-42 --json --connect ws://127.0.0.1:7711');
}
