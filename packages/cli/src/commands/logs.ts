import { count } from '../option-values.js';
import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, addJsonOption, type ConnectionFlags } from './connection-options.js';
import { addSessionOption } from './session-option.js';

export interface LogsFlags extends ConnectionFlags {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly session?: string;
  readonly json?: boolean;
}

const TAIL_FLAGS = '-n, --tail <LINES>';

/** Adds `logs`: prints what the server has of the output of a process. */
export function addLogsCommand({ program, io, setExitCode }: CommandContext): void {
  const logs = program
    .command('logs')
    .description('print the output of a process as far as the server has it, its stdout and stderr apart')
    .usage('[OPTIONS] ID')
    .argument('<id>', 'id of the process, or how it begins')
    .option('-f, --follow', 'go on until the process and its output have ended')
    .option(TAIL_FLAGS, 'of what there is, print only the last lines', (text: string) =>
      count.fromText(text, TAIL_FLAGS),
    )
    .action(async (id: string, flags: LogsFlags) => {
      const { printLog } = await import('../client/print-log.js');
      setExitCode(await printLog(id, flags, io));
    });
  addJsonOption(addConnectionOptions(addSessionOption(logs)));
  addExample(logs, 'exec-server logs -f build-42 --connect ws://127.0.0.1:7711');
}
