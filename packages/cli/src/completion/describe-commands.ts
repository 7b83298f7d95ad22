import type { Argument, Command, Option } from 'commander';

/** What can stand in a place of the command line: one of some words, a path, a command of its own, or any text. */
export type Completion = readonly string[] | 'path' | 'command' | 'text';

/** An option as a shell completes it. */
export interface OptionSpec {
  /** All its names with their dashes, the short one first. */
  readonly flags: readonly string[];
  readonly description: string;
  /** What comes behind it; absent for one without a value. */
  readonly value?: { readonly name: string; readonly completion: Completion };
}

/** A command as a shell completes it. */
export interface CommandSpec {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionSpec[];
  /** What its arguments can be, which are all of a kind; absent where it takes none. */
  readonly argument?: Completion;
}

/** The whole command line. */
export interface ProgramSpec {
  readonly name: string;
  /** What can be given without a command. */
  readonly options: readonly OptionSpec[];
  readonly commands: readonly CommandSpec[];
}

/** Placeholders in help that stand for paths. */
const PATH_PLACEHOLDER = /file|path|dir|source|destination/i;

/** What is known of `program` by what its commands say of themselves in help. */
export function describeCommands(program: Command, defaultCommand: string): ProgramSpec {
  const help = program.createHelp();
  const commands = help.visibleCommands(program).map((command) => describeCommand(command));
  const names = commands.map(({ name }) => name);
  const own = help.visibleOptions(program).map(describeOption);
  const ownFlags = new Set(own.flatMap(({ flags }) => flags));
  const standard = commands.find(({ name }) => name === defaultCommand)?.options ?? [];
  return {
    name: program.name(),
    options: [...own, ...standard.filter(({ flags }) => !flags.some((flag) => ownFlags.has(flag)))],
    // Commander makes that command itself and does not say that it takes the others.
    commands: commands.map((spec) => (spec.name === 'help' ? { ...spec, argument: names } : spec)),
  };
}

function describeCommand(command: Command): CommandSpec {
  const help = command.createHelp();
  const [argument] = help.visibleArguments(command);
  const parts = help.visibleCommands(command).map((part) => part.name());
  return {
    name: command.name(),
    description: help.subcommandDescription(command),
    options: help.visibleOptions(command).map(describeOption),
    ...(parts.length > 0 && { argument: parts }),
    ...(argument !== undefined && { argument: completionOf(argument, argument.name()) }),
  };
}

function describeOption(option: Option): OptionSpec {
  const { short, long, description, flags } = option;
  const placeholder = /[<[]([^<[>\]]+)[>\]]/.exec(flags)?.[1];
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    ...(placeholder !== undefined && {
      value: { name: placeholder, completion: completionOf(option, placeholder) },
    }),
  };
}

function completionOf({ argChoices }: Argument | Option, placeholder: string): Completion {
  if (argChoices !== undefined) return argChoices;
  if (PATH_PLACEHOLDER.test(placeholder)) return 'path';
  return placeholder.toLowerCase() === 'command' ? 'command' : 'text';
}
