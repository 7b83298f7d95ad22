import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { CommandError, writeError } from './command-error.js';
import { type CommandIo, createProcessIo } from './command-io.js';
import { addAttachCommand } from './commands/attach.js';
import { addCatCommand } from './commands/cat.js';
import type { CommandContext } from './commands/command-context.js';
import { addCompletionCommand } from './commands/completion.js';
import { addContextCommand } from './commands/context.js';
import { addCpCommand } from './commands/cp.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addInspectCommand } from './commands/inspect.js';
import { addJobCommand } from './commands/job.js';
import { addKillCommand } from './commands/kill.js';
import { addLogsCommand } from './commands/logs.js';
import { addLsCommand } from './commands/ls.js';
import { addPsCommand } from './commands/ps.js';
import { addRmCommand } from './commands/rm.js';
import { addRunCommand } from './commands/run.js';
import { addServeCommand } from './commands/serve.js';
import { addShellCommand } from './commands/shell.js';
import { addTokenCommand } from './commands/token.js';
import { addWaitCommand } from './commands/wait.js';
import { ExitCode } from './exit-codes.js';
import { EXPLANATION } from './explanation.js';
import { translateUsageError, UsageError } from './usage-error.js';

/** Adds each command that is a client, in the order of the help. They load what they need when they run. */
const CLIENT_COMMANDS: readonly ((context: CommandContext) => void)[] = [
  addRunCommand,
  addShellCommand,
  addPsCommand,
  addLogsCommand,
  addAttachCommand,
  addWaitCommand,
  addKillCommand,
  addInspectCommand,
  addRmCommand,
  addCpCommand,
  addLsCommand,
  addCatCommand,
  addJobCommand,
  addDoctorCommand,
  addTokenCommand,
  addContextCommand,
  addCompletionCommand,
];

/** Commands that exit as another command did, so that their own failures need codes of their own. */
const PASSING_COMMANDS: ReadonlySet<string | undefined> = new Set(['run', 'shell', 'attach', 'wait']);

/**
 * Runs the command with `args`, which do not include the program's name, and resolves with its exit code: 0 when it
 * did what was asked, 1 when it could not, 2 when the arguments make no sense; see {@link ExitCode} for the rest.
 */
export async function runCommandLine(
  args: readonly string[],
  io: CommandIo = createProcessIo(),
): Promise<number> {
  if (args.length === 0) {
    if (io.stdin.isTTY === true) {
      io.stdout.write(EXPLANATION);
      return ExitCode.success;
    }
    return run(['serve', '--listen', 'stdio'], io);
  }
  return run(args, io);
}

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  let exitCode: number = ExitCode.success;
  // A server needs none of the others, whose options take longer to set up than its own.
  const commands = args[0] === 'serve' ? [] : CLIENT_COMMANDS;
  const program = createProgram(io, commands, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return ExitCode.success;
    return reportFailure(error, io, program, args[0]);
  }
}

/** Says what went wrong, and returns what to exit with. */
function reportFailure(error: unknown, io: CommandIo, program: Command, name: string | undefined): number {
  const ownCode = PASSING_COMMANDS.has(name) ? ExitCode.ownFailure : undefined;
  const usage = error instanceof CommanderError ? translateUsageError(error) : error;
  if (usage instanceof UsageError) {
    const usageLine = usage.showUsage ? `Usage: exec-server ${usageOf(program, name)}\n\n` : '';
    io.stderr.write(`error: ${usage.message}\n\n${usageLine}For more information, try '--help'.\n`);
    return ownCode ?? ExitCode.usage;
  }
  writeError(io, error);
  return (error instanceof CommandError ? error.exitCode : undefined) ?? ownCode ?? ExitCode.failure;
}

/** The usage of a command; that of the program for `serve`, whose name can be left out. */
function usageOf(program: Command, name: string | undefined): string {
  const command = program.commands.find((candidate) => candidate.name() === name);
  if (command === undefined || name === 'serve') return program.usage();
  return `${command.name()} ${command.usage()}`;
}

function createProgram(
  io: CommandIo,
  clientCommands: typeof CLIENT_COMMANDS,
  setExitCode: (code: number) => void,
): Command {
  const program = new Command('exec-server')
    .description('Runs, watches and controls processes on this machine for a program on another.')
    .usage('[OPTIONS] [COMMAND]')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    // What stands behind the name of a command is that command's, also where it looks like an option of ours.
    .enablePositionalOptions()
    .helpCommand('help [command]', 'print help of a command')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Errors come back as exceptions and are written in one place.
      writeErr() {},
    })
    .exitOverride();
  const serve = addServeCommand(program, io, setExitCode);
  for (const addCommand of clientCommands) addCommand({ program, io, setExitCode });
  program.addHelpText('after', () => `\nWithout a command it serves:\n\n${serve.helpInformation()}`);
  return program;
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
