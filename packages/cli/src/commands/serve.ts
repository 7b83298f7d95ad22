import { type Command, Option } from 'commander';
import type { CommandIo } from '../command-io.js';
import { text } from '../option-values.js';
import type { ConfigFile } from '../serve/describe-configuration.js';
import { externalName, SETTINGS, type ServeSettings, type Setting } from '../serve/settings.js';
import { UsageError } from '../usage-error.js';

interface ServeFlags extends ServeSettings {
  readonly config?: string;
}

const CONFIG: Setting<string> = {
  kind: text,
  placeholder: 'FILE',
  description: 'TOML file with any of these options, named without the dashes in front; flags win over it',
};

/** Adds `serve`, the default command: takes connections until it is told to end. */
export function addServeCommand(
  program: Command,
  io: CommandIo,
  setExitCode: (code: number) => void,
): Command {
  const serve = program
    .command('serve', { isDefault: true })
    .description('take connections until a signal, or the end of stdin when it listens on stdio')
    .usage('[OPTIONS]')
    // Taken only to be refused by name: it is a command that does not exist.
    .argument('[unexpected...]')
    .action(async (unexpected: string[], flags: ServeFlags) => {
      if (unexpected[0] !== undefined)
        throw new UsageError(`unrecognized subcommand '${unexpected[0]}'`, true);
      setExitCode(await runWith(flags, io));
    })
    .configureHelp({ visibleArguments: () => [] });
  for (const [name, setting] of Object.entries<Setting<unknown>>({ ...SETTINGS, config: CONFIG }))
    serve.addOption(toOption(name, setting));
  return serve;
}

async function runWith({ config, ...flags }: ServeFlags, io: CommandIo): Promise<number> {
  // Loaded here so that `--version` and `--help` do not wait for the whole server.
  const [{ describeConfiguration }, { runServer }] = await Promise.all([
    import('../serve/describe-configuration.js'),
    import('../serve/run-server.js'),
  ]);
  const file = config === undefined ? undefined : await loadConfigFile(config);
  return runServer({ ...file?.settings, ...flags }, io, describeConfiguration(flags, file));
}

async function loadConfigFile(path: string): Promise<ConfigFile> {
  const { readConfigFile } = await import('../serve/config-file.js');
  return { path, settings: readConfigFile(path) };
}

function toOption(
  name: string,
  { kind, placeholder, description, default: value, defaultMeaning: standard = value }: Setting<unknown>,
): Option {
  const flags = `--${externalName(name)}${placeholder === undefined ? '' : ` <${placeholder}>`}`;
  const repeatable = kind.arity === 'many' ? ' (repeatable)' : '';
  const option = new Option(
    flags,
    `${description}${repeatable}${standard === undefined ? '' : ` [default: ${standard}]`}`,
  );
  if (kind.arity === 'none') return option;
  // Told in help and to shells; refused by the parser below, in words that clients already know.
  if (kind.choices !== undefined) option.argChoices = [...kind.choices];
  return option.argParser<unknown>((value, earlier) => {
    if (earlier === undefined) return kind.fromText(value, flags);
    if (kind.arity === 'many')
      return [...(earlier as unknown[]), ...(kind.fromText(value, flags) as unknown[])];
    throw new UsageError(`the argument '${flags}' cannot be used multiple times`, true);
  });
}
