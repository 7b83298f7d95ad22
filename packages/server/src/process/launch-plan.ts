import type { EnvPolicy } from '@exec-server/protocol';
import { type Known, whenKnown } from '../loop-turn.js';
import { resolveProgram } from '../native/exec-path.js';
import type { LaunchPlan } from '../native/launch.js';
import type { SnapshotRequest } from '../shell-snapshot/snapshot-request.js';
import type { TimeLimit } from '../terminate/on-timeout.js';
import { resolveEnvironment } from './environment-policy.js';
import type { TerminalSize } from './managed-process.js';
import type { ProcessEngine } from './process-engine.js';
import { StartError } from './start-error.js';

/** Terminal size of a pty whose request names none. */
export const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** A program by name and an environment by rules; the server finds the one and makes the other. */
export interface DirectCommand {
  readonly way: 'direct';
  /** What the program sees as `argv[0]`; never changes which program runs. */
  readonly arg0?: string | undefined;
  /** Laid over what the policy gives; `null` removes a variable. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly envPolicy?: EnvPolicy | undefined;
  /** Variables that the request's metadata adds. */
  readonly extraEnv: ReadonlyMap<string, string>;
  /** Run a login shell's script from a snapshot of its state. */
  readonly shellSnapshot?: SnapshotRequest | undefined;
}

/** A command that the client has resolved; it runs exactly as given. */
export interface PreparedCommand {
  readonly way: 'prepared';
  /** Absolute path of the file to execute. */
  readonly program: string;
  /** The whole environment, but for variables that no child gets. */
  readonly env: Readonly<Record<string, string>>;
}

/** A request to start a program, decoded; no dialect's words are left in it. */
export interface StartRequest {
  /** The client's name for the process, unique in its session. */
  readonly processId: string;
  readonly command: DirectCommand | PreparedCommand;
  /** Program and arguments; of a prepared command the whole argv. */
  readonly argv: readonly string[];
  /** Absolute directory, as bytes. */
  readonly cwd: Uint8Array;
  /** The same for people. */
  readonly cwdText: string;
  readonly tty: boolean;
  /** Keeps a pipe open for writes; a pty always takes them. */
  readonly pipeStdin: boolean;
  /** Size of the terminal. @default 24 rows, 80 columns */
  readonly size?: TerminalSize | undefined;
  /** When it is to be ended. @default never */
  readonly timeLimit?: TimeLimit | undefined;
  /** Output retained, where that is less than the server would retain, in bytes. */
  readonly outputBytesCap?: number | undefined;
  /** How long it may outlive its session, in milliseconds. @default 0, it ends with it */
  readonly keepAliveMs?: number | undefined;
  /** Whether the whole output also goes to a file. @default false */
  readonly spill?: boolean | undefined;
  /** Whether it stays readable, and its id taken, for a while after it has closed. @default true */
  readonly retainClosed?: boolean | undefined;
  /** Name by which it is started once, whichever session asks. */
  readonly startKey?: string | undefined;
  /** Words to find it by. */
  readonly tags: Readonly<Record<string, string>>;
}

/** The same command with variables on top that count more than those it came with. */
export function withVariables(request: StartRequest, variables: ReadonlyMap<string, string>): StartRequest {
  const { command } = request;
  const own = Object.fromEntries(variables);
  // The two look alike and are not: only one of them may have variables that are `null`.
  return command.way === 'direct'
    ? { ...request, command: { ...command, env: { ...command.env, ...own } } }
    : { ...request, command: { ...command, env: { ...command.env, ...own } } };
}

/**
 * Turns a request into what the kernel is asked for. Throws or rejects with {@link StartError}, or with `OsError` for a
 * program that is not there.
 */
export function planLaunch(engine: ProcessEngine, request: StartRequest): Known<LaunchPlan> {
  const { command, cwd } = request;
  const resolved =
    command.way === 'direct'
      ? resolveCommand(engine, request, command)
      : takeCommand(engine, request, command);
  return whenKnown(resolved, (ready) => ({
    ...ready,
    cwd,
    stdio: request.tty
      ? { kind: 'pty', ...(request.size ?? DEFAULT_SIZE) }
      : { kind: 'pipes', stdin: request.pipeStdin ? 'pipe' : 'null' },
    extraDescriptors: [],
  }));
}

type ResolvedCommand = Pick<LaunchPlan, 'program' | 'argv' | 'env'>;

function takeCommand(
  { serverEnv }: ProcessEngine,
  { argv, cwd }: StartRequest,
  { program, env: own }: PreparedCommand,
): ResolvedCommand {
  if (!program.startsWith('/'))
    throw new StartError('refused', `program must be an absolute path, not \`${program}\``);
  const env = resolveEnvironment(serverEnv, { env: own, extra: new Map() });
  refuseNul(cwd, { program, argv, env });
  return { program, argv, env };
}

function resolveCommand(
  engine: ProcessEngine,
  request: StartRequest,
  { arg0, env: own, envPolicy: policy, extraEnv: extra }: DirectCommand,
): Known<ResolvedCommand> {
  const env = resolveEnvironment(engine.serverEnv, { env: own, policy, extra });
  // Programs on a terminal expect to know the user's shell.
  if (request.tty && !env.has('SHELL')) env.set('SHELL', engine.environmentInfo.shell.path);
  const [name = '', ...args] = request.argv;
  if (name === '')
    throw new StartError('spawn-failed', `missing program for ${request.tty ? 'PTY' : 'pipe'} spawn`);
  const argv = [arg0 ?? name, ...args];
  // Before the search, which would look for something else than was asked for.
  refuseNul(request.cwd, { program: name, argv, env });
  return whenKnown(findProgram(name, env.get('PATH'), request), (program) => ({ program, argv, env }));
}

/** A NUL would silently cut a string at the system call. */
function refuseNul(cwd: Uint8Array, { program, argv, env }: ResolvedCommand): void {
  const strings = [program, ...argv, ...env.keys(), ...env.values()];
  if (cwd.includes(0) || strings.some((text) => text.includes('\0')))
    throw new StartError('spawn-failed', 'nul byte found in provided data');
}

function findProgram(
  name: string,
  path: string | undefined,
  { tty, cwd }: StartRequest,
): Known<LaunchPlan['program']> {
  if (tty && path === undefined && !name.includes('/'))
    throw new StartError('spawn-failed', `Unable to spawn ${name} because:\nUnable to resolve the PATH`);
  const found = resolveProgram(name, path, cwd);
  if (!tty || !(found instanceof Promise)) return found;
  return found.catch((cause: unknown) => {
    const message = `Unable to spawn ${name} because:\nNo viable candidates found in PATH ${JSON.stringify(path)}`;
    throw new StartError('spawn-failed', message, { cause });
  });
}
