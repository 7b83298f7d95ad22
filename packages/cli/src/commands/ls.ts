import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, addJsonOption, type ConnectionFlags } from './connection-options.js';

export interface LsFlags extends ConnectionFlags {
  readonly long?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Adds `ls`: lists files of the server's machine. */
export function addLsCommand({ program, io, setExitCode }: CommandContext): void {
  const command = program
    .command('ls')
    .description("list files of the server's machine")
    .usage('[OPTIONS] [PATH]...')
    .argument('[path...]', 'what to list [default: the directory that the server was started in]')
    .option('-l, --long', 'permissions, size, time of the last change, and what links say')
    .option('-a, --all', 'also names that begin with a dot')
    .action(async (paths: string[], flags: LsFlags) => {
      const { listFiles } = await import('../files/list-files.js');
      setExitCode(await listFiles(paths, flags, io));
    });
  addJsonOption(addConnectionOptions(command));
  addExample(command, 'exec-server ls -l --connect ws://127.0.0.1:7711 /var/log');
}
