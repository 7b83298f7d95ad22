import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { type CommandIo, createProcessIo } from './command-io.js';
import { addServeCommand } from './commands/serve.js';
import { EXPLANATION } from './explanation.js';
import { translateUsageError, UsageError } from './usage-error.js';

const SUCCESS = 0;
const START_FAILURE = 1;
const USAGE_FAILURE = 2;

/**
 * Runs the command with `args`, which do not include the program's name, and resolves with its exit code: 0 when it
 * did what was asked, 1 when it could not, 2 when the arguments make no sense.
 */
export async function runCommandLine(
  args: readonly string[],
  io: CommandIo = createProcessIo(),
): Promise<number> {
  if (args.length === 0) {
    if (io.stdin.isTTY === true) {
      io.stdout.write(EXPLANATION);
      return SUCCESS;
    }
    return run(['serve', '--listen', 'stdio'], io);
  }
  return run(args, io);
}

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = SUCCESS;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return SUCCESS;
    const usage = error instanceof CommanderError ? translateUsageError(error) : error;
    if (!(usage instanceof UsageError)) {
      io.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
      return START_FAILURE;
    }
    const usageLine = usage.showUsage ? `Usage: exec-server ${program.usage()}\n\n` : '';
    io.stderr.write(`error: ${usage.message}\n\n${usageLine}For more information, try '--help'.\n`);
    return USAGE_FAILURE;
  }
}

function createProgram(io: CommandIo, setExitCode: (code: number) => void): Command {
  const program = new Command('exec-server')
    .description('Runs, watches and controls processes on this machine for a program on another.')
    .usage('[OPTIONS] [COMMAND]')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help of a command')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Errors come back as exceptions and are written in one place.
      writeErr() {},
    })
    .exitOverride();
  const serve = addServeCommand(program, io, setExitCode);
  program.addHelpText('after', () => `\nWithout a command it serves:\n\n${serve.helpInformation()}`);
  return program;
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
