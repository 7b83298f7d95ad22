import { addExample, type CommandContext } from './command-context.js';
import { addJsonOption } from './connection-options.js';

export interface ContextAddFlags {
  readonly connect: string;
  readonly tokenFile?: string;
  readonly tlsCa?: string;
  readonly use?: boolean;
}

/** Adds `context`: gives servers names. */
export function addContextCommand({ program, io }: CommandContext): void {
  const context = program
    .command('context')
    .description('give servers names, for `--on NAME` and for `connect(name)` of the SDK')
    .usage('add|use|list|rm [OPTIONS]');
  const add = context
    .command('add')
    .description('name a server, or change one that has the name')
    .usage('[OPTIONS] NAME --connect URL')
    .argument('<name>', 'letters, digits, dots, dashes and underscores, at most 64')
    .requiredOption('--connect <URL>', 'ws://, wss:// or unix://')
    .option('--token-file <FILE>', "file with the server's token; only its path is kept")
    .option('--tls-ca <FILE>', 'certificate authorities to trust for wss, PEM')
    .option('--use', 'also use it where no server is named')
    .action(async (name: string, flags: ContextAddFlags) => {
      const { addContext } = await import('../client/edit-contexts.js');
      await addContext(name, flags, io);
    });
  addExample(
    add,
    'exec-server context add box --connect wss://box.example:7711 --token-file ~/.box-token --use',
  );
  context
    .command('use')
    .description('use a server where none is named; without a name, one of its own again')
    .usage('[NAME]')
    .argument('[name]', 'name of the context')
    .action(async (name: string | undefined) => {
      const { useContext } = await import('../client/edit-contexts.js');
      await useContext(name, io);
    });
  const list = context
    .command('list')
    .alias('ls')
    .description('list the servers that have names')
    .usage('[OPTIONS]')
    .action(async (flags: { readonly json?: boolean }) => {
      const { listContexts } = await import('../client/edit-contexts.js');
      await listContexts(flags, io);
    });
  addJsonOption(list);
  context
    .command('rm')
    .description('forget names')
    .usage('NAME...')
    .argument('<name...>', 'names of contexts')
    .action(async (names: string[]) => {
      const { removeContexts } = await import('../client/edit-contexts.js');
      await removeContexts(names, io);
    });
}
