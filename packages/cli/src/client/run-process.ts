import { resolve } from 'node:path';
import type { CommonOptions, NodeMachine, Sandbox, TerminalSize } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import type { RunFlags } from '../commands/run.js';
import { ExitCode } from '../exit-codes.js';
import { UsageError } from '../usage-error.js';
import { followProcess } from './follow-process.js';
import { lendTerminal, terminalSize } from './local-terminal.js';
import { readEnvFile } from './read-env-file.js';
import { isNullDevice, readInput } from './read-input.js';
import { watchConnection } from './watch-connection.js';
import { withMachine } from './with-machine.js';

/** How long a detached process lives on where nobody says, in milliseconds: a day. */
const DETACHED_KEEP_ALIVE_MS = 24 * 3_600_000;

/** What a terminal without a name is most likely to understand. */
const DEFAULT_TERM = 'xterm';

/** Nothing is collected: output goes through as it comes. */
const NOTHING_KEPT = { headBytes: 0, tailBytes: 0, truncate: 'middle' } as const;

/** Runs a command on the server as if it ran here, and returns what to exit with. */
export async function runProcess(
  command: readonly string[] | ((machine: NodeMachine) => Promise<readonly string[]>),
  flags: RunFlags,
  io: CommandIo,
): Promise<number> {
  checkFlags(flags);
  const fileEnv = await readEnvFiles(flags.envFile ?? []);
  return withMachine(
    flags,
    io,
    async ({ machine, url }) => {
      const argv = typeof command === 'function' ? await command(machine) : command;
      const options = toOptions(flags, io, url === undefined, fileEnv);
      if (flags.detach === true) {
        if (url === undefined)
          throw new UsageError(
            "'--detach' needs a server that goes on: give '--connect <URL>' or set EXEC_SERVER_URL",
          );
        return runDetached(machine, argv, flags, options, io);
      }
      const exitCode = flags.tty === true ? runOnTerminal : runOnPipes;
      return exitCode(machine, argv, flags, options, io);
    },
    // One process has the connection to itself.
    { slowReader: 'pause' },
  );
}

function checkFlags({ detach, interactive, stdin, network, sandbox }: RunFlags): void {
  if (network !== undefined && sandbox === undefined)
    throw new UsageError("the argument '--network <WHICH>' needs '--sandbox <POLICY>'", true);
  if (interactive === true && !stdin)
    throw new UsageError("the argument '--interactive' cannot be used with '--no-stdin'", true);
  if (detach === true && !stdin)
    throw new UsageError("the argument '--detach' passes no stdin; '--no-stdin' adds nothing", true);
}

type Run = (
  machine: NodeMachine,
  argv: readonly string[],
  flags: RunFlags,
  options: CommonOptions,
  io: CommandIo,
) => Promise<number>;

const runOnPipes: Run = async (machine, argv, flags, options, io) => {
  const handle = await machine.spawn(argv, {
    ...options,
    ...(flags.stdin && !isNullDevice(io.stdin) && { input: readInput(io.stdin) }),
  });
  return followProcess(handle, io, handle.result(), watchConnection(machine, io, handle.id));
};

const runOnTerminal: Run = async (machine, argv, flags, options, io) => {
  const size = await supportedSize(machine, io);
  const handle = await machine.pty(argv, { ...options, ...size });
  const terminal = lendTerminal(io, handle, size);
  try {
    const connection = watchConnection(machine, io, handle.id);
    const typed = connection.watchKeys(readInput(io.stdin));
    const result = flags.stdin ? handle.communicate(typed) : handle.result();
    return await followProcess(handle, io, result, connection);
  } finally {
    terminal.giveBack(handle.outcome?.kind === 'exited');
  }
};

const runDetached: Run = async (machine, argv, flags, options, io) => {
  const detached = { keepAliveMs: DETACHED_KEEP_ALIVE_MS, ...options };
  const handle =
    flags.tty === true
      ? await machine.pty(argv, { ...detached, ...(await supportedSize(machine, io)) })
      : await machine.spawn(argv, { ...detached, stdin: flags.interactive === true ? 'pipe' : 'none' });
  handle.detach();
  io.stdout.write(`${handle.id}\n`);
  return ExitCode.success;
};

/** The size for a terminal over there; none for a server that has only one size. */
async function supportedSize(machine: NodeMachine, io: CommandIo): Promise<TerminalSize | undefined> {
  return (await machine.client.supports('processSize')) ? terminalSize(io) : undefined;
}

async function readEnvFiles(files: readonly string[]): Promise<Record<string, string>> {
  const read = await Promise.all(files.map(readEnvFile));
  return Object.assign({}, ...read) as Record<string, string>;
}

/** A policy by its name, and the same with a network. */
function toSandbox({ sandbox, network }: RunFlags): Sandbox | undefined {
  if (sandbox === undefined || network !== 'on') return sandbox;
  return { base: sandbox, network };
}

function toOptions(
  flags: RunFlags,
  io: CommandIo,
  isLocal: boolean,
  fileEnv: Readonly<Record<string, string>>,
): CommonOptions {
  const sandbox = toSandbox(flags);
  const { cwd, inheritEnv, timeout, tag, id, keepAlive } = flags;
  return {
    env: {
      ...(flags.tty === true && { TERM: io.env.TERM ?? DEFAULT_TERM }),
      ...fileEnv,
      ...toEnv(flags.env ?? [], io.env),
    },
    output: NOTHING_KEPT,
    // On this machine a path means what it means in the shell, and none the directory that this is run in.
    ...(isLocal ? { cwd: resolve(cwd ?? '') } : cwd !== undefined && { cwd }),
    ...(inheritEnv !== undefined && { inheritEnv }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(tag !== undefined && { tags: tag }),
    ...(id !== undefined && { id }),
    ...(keepAlive !== undefined && { keepAliveMs: keepAlive }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

/** `KEY=VALUE` sets a variable, `KEY` alone passes on the one that is set here, if any. */
function toEnv(assignments: readonly string[], env: CommandIo['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    assignments.map((assignment) => {
      const separator = assignment.indexOf('=');
      if (separator === 0 || assignment === '')
        throw new UsageError(`'--env ${assignment}' names no variable: give KEY=VALUE or KEY`);
      if (separator < 0) return [assignment, env[assignment]];
      return [assignment.slice(0, separator), assignment.slice(separator + 1)];
    }),
  );
}
