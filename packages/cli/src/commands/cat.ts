import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, addJsonOption, type ConnectionFlags } from './connection-options.js';

export interface CatFlags extends ConnectionFlags {
  readonly json?: boolean;
}

/** Adds `cat`: prints files of the server's machine. */
export function addCatCommand({ program, io, setExitCode }: CommandContext): void {
  const command = program
    .command('cat')
    .description("print files of the server's machine, byte for byte")
    .usage('[OPTIONS] <PATH>...')
    .argument('<path...>', 'what to print')
    .action(async (paths: string[], flags: CatFlags) => {
      const { printFiles } = await import('../files/print-files.js');
      setExitCode(await printFiles(paths, flags, io));
    });
  addJsonOption(addConnectionOptions(command));
  addExample(command, 'exec-server cat --connect ws://127.0.0.1:7711 /etc/hostname');
}
