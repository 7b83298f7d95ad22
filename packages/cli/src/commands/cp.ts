import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, type ConnectionFlags } from './connection-options.js';

export interface CpFlags extends ConnectionFlags {
  readonly recursive?: true;
  readonly quiet?: true;
}

/** Adds `cp`: copies files between this machine and the server's. */
export function addCpCommand({ program, io }: CommandContext): void {
  const command = program
    .command('cp')
    .description(
      "copy files and directories between this machine and the server's, whose paths begin with remote:",
    )
    .usage('[OPTIONS] <SOURCE>... <DESTINATION>')
    .argument('<source>', 'what to copy: PATH, or remote:PATH on the server')
    .argument('<destination...>', 'what the copy is called, or the directory that it goes into')
    .option('-r, --recursive', 'copy directories with everything in them; links stay links')
    .option('-q, --quiet', 'show no progress; there is none anyway where stderr is no terminal')
    .action(async (first: string, rest: string[], flags: CpFlags) => {
      const { copyFiles } = await import('../files/copy-files.js');
      const sources = [first, ...rest.slice(0, -1)];
      const destination = rest.at(-1) ?? '';
      await copyFiles({ sources, destination }, flags, io);
    });
  addConnectionOptions(command);
  addExample(
    command,
    'exec-server cp -r --connect ws://127.0.0.1:7711 ./site remote:/srv/site',
    'exec-server cp --connect ws://127.0.0.1:7711 remote:/var/log/syslog .',
  );
}
