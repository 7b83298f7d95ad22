import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, type ConnectionFlags } from './connection-options.js';
import { addSessionOption } from './session-option.js';

export interface AttachFlags extends ConnectionFlags {
  readonly view?: boolean;
  /** False for `--no-stdin`. */
  readonly stdin: boolean;
  readonly detachKeys?: string;
  readonly session?: string;
}

/** Adds `attach`: joins a process that runs already. */
export function addAttachCommand({ program, io, setExitCode }: CommandContext): void {
  const attach = program
    .command('attach')
    .description(
      'join a process: its output comes here, what is typed or piped in here goes there, and its exit code is the exit code',
    )
    .usage('[OPTIONS] ID')
    .argument('<id>', 'id of the process, or how it begins')
    .option('--view', 'only watch: pass neither stdin nor signals nor the size of the terminal')
    .option('-n, --no-stdin', 'leave its stdin alone')
    .option('--detach-keys <KEYS>', 'keys that leave a terminal, or none [default: ctrl-p,ctrl-q]')
    .action(async (id: string, flags: AttachFlags) => {
      const { attachProcess } = await import('../client/attach-process.js');
      setExitCode(await attachProcess(id, flags, io));
    });
  addConnectionOptions(addSessionOption(attach));
  addExample(attach, 'exec-server attach build-42 --connect ws://127.0.0.1:7711');
}
