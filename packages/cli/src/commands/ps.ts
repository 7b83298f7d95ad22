import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, addJsonOption, type ConnectionFlags } from './connection-options.js';
import { collectPairs } from './flag-values.js';

const TAG = '--tag <KEY=VALUE>';

export interface PsFlags extends ConnectionFlags {
  readonly all?: boolean;
  readonly quiet?: boolean;
  readonly tag?: Readonly<Record<string, string>>;
  readonly json?: boolean;
}

/** Adds `ps`: lists processes, also those that other clients of the same principal have started. */
export function addPsCommand({ program, io }: CommandContext): void {
  const ps = program
    .command('ps')
    .description('list processes, whichever client of yours has started them')
    .usage('[OPTIONS]')
    .option('-a, --all', 'also those that have ended and whose results are kept')
    .option('-q, --quiet', 'only ids')
    .option(TAG, 'only those with this tag (repeatable)', collectPairs(TAG))
    .action(async (flags: PsFlags) => {
      const { listProcesses } = await import('../client/list-processes.js');
      await listProcesses(flags, io);
    });
  addJsonOption(addConnectionOptions(ps));
  addExample(ps, 'exec-server ps --all --connect ws://127.0.0.1:7711');
}
