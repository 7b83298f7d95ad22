import type { CommanderError } from 'commander';

/** A command line that makes no sense. Ends the command with code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  constructor(
    message: string,
    /** Whether the usage line helps to see the mistake. */
    readonly showUsage = false,
  ) {
    super(message);
  }
}

const TRANSLATIONS: Readonly<Record<string, (message: string) => UsageError>> = {
  'commander.unknownOption': (message) =>
    new UsageError(`unexpected argument '${quoted(message)}' found${suggestion(message)}`, true),
  'commander.optionMissingArgument': (message) =>
    new UsageError(`a value is required for '${quoted(message)}' but none was supplied`),
  'commander.unknownCommand': (message) =>
    new UsageError(`unrecognized subcommand '${quoted(message)}'${suggestion(message)}`, true),
};

/** Says commander's complaints in the words of the command line that clients already know. */
export function translateUsageError(error: CommanderError): UsageError {
  const translate = TRANSLATIONS[error.code];
  return translate?.(error.message) ?? new UsageError(error.message.replace(/^error: /, ''), true);
}

function quoted(message: string): string {
  return /'([^']*)'/.exec(message)?.[1] ?? '';
}

const SUGGESTION = '(Did you mean ';

function suggestion(message: string): string {
  const start = message.indexOf(SUGGESTION);
  const end = message.lastIndexOf('?)');
  if (start === -1 || end < start) return '';
  return `\n\n  tip: a similar argument exists: '${message.slice(start + SUGGESTION.length, end)}'`;
}
