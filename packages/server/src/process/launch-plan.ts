import type { EnvPolicy } from '@exec-server/protocol';
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

/** A request to start a program, decoded; no dialect's words are left in it. */
export interface StartRequest {
  /** The client's name for the process, unique in its session. */
  readonly processId: string;
  /** Program and arguments. */
  readonly argv: readonly string[];
  /** What the program sees as `argv[0]`; never changes which program runs. */
  readonly arg0?: string | undefined;
  /** Absolute directory, as bytes. */
  readonly cwd: Uint8Array;
  /** The same for people. */
  readonly cwdText: string;
  readonly env: Readonly<Record<string, string>>;
  readonly envPolicy?: EnvPolicy | undefined;
  /** Run a login shell's script from a snapshot of its state. */
  readonly shellSnapshot?: SnapshotRequest | undefined;
  /** Variables that the request's metadata adds. */
  readonly extraEnv: ReadonlyMap<string, string>;
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
  /** Words to find it by. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Turns a request into what the kernel is asked for. Throws {@link StartError}. */
export function planLaunch(engine: ProcessEngine, request: StartRequest): LaunchPlan {
  const env = resolveEnvironment(engine.serverEnv, {
    env: request.env,
    policy: request.envPolicy,
    extra: request.extraEnv,
  });
  // Programs on a terminal expect to know the user's shell.
  if (request.tty && !env.has('SHELL')) env.set('SHELL', engine.environmentInfo.shell.path);
  const [name = '', ...args] = request.argv;
  if (name === '')
    throw new StartError('spawn-failed', `missing program for ${request.tty ? 'PTY' : 'pipe'} spawn`);
  refuseNul(request, env);
  return {
    program: findProgram(name, env.get('PATH'), request),
    argv: [request.arg0 ?? name, ...args],
    cwd: request.cwd,
    env,
    stdio: request.tty
      ? { kind: 'pty', ...(request.size ?? DEFAULT_SIZE) }
      : { kind: 'pipes', stdin: request.pipeStdin ? 'pipe' : 'null' },
    extraDescriptors: [],
  };
}

/** A NUL would silently cut a string at the system call. */
function refuseNul(request: StartRequest, env: ReadonlyMap<string, string>): void {
  const strings = [...request.argv, request.arg0 ?? '', ...env.keys(), ...env.values()];
  if (request.cwd.includes(0) || strings.some((text) => text.includes('\0')))
    throw new StartError('spawn-failed', 'nul byte found in provided data');
}

function findProgram(name: string, path: string | undefined, request: StartRequest): LaunchPlan['program'] {
  try {
    if (request.tty && path === undefined && !name.includes('/'))
      throw new StartError('spawn-failed', `Unable to spawn ${name} because:\nUnable to resolve the PATH`);
    return resolveProgram(name, path, request.cwd);
  } catch (error) {
    if (request.tty && !name.includes('/') && !(error instanceof StartError))
      throw new StartError(
        'spawn-failed',
        `Unable to spawn ${name} because:\nNo viable candidates found in PATH ${JSON.stringify(path)}`,
        { cause: error },
      );
    throw error;
  }
}
