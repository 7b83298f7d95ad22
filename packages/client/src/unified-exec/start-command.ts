import { ExecServerError } from '../errors.js';
import { toChildUri, toPathUri } from '../fs/remote-path.js';
import type { ProcessHandle } from '../process/process-handle.js';
import { spawnProcess, spawnPty } from '../process/spawn.js';
import { defaultDirectory } from '../process/start-params.js';
import type { ExecCommandArgs } from './arguments.js';
import { toCommandLine } from './command-line.js';
import { PLAIN_OUTPUT_ENV } from './environment.js';
import { UnifiedExecError } from './errors.js';
import type { UnifiedExecClient, UnifiedExecOptions } from './options.js';

/** A command as it will be started. */
export interface PreparedCommand {
  readonly argv: readonly string[];
  /** Directory, as a `file:` URL. */
  readonly cwd: string;
  readonly tty: boolean;
}

/** Finds out what to start. */
export async function prepareCommand(
  client: UnifiedExecClient,
  { cmd, workdir = '', shell, login, tty = false }: ExecCommandArgs,
  options: UnifiedExecOptions,
): Promise<PreparedCommand> {
  const { allowLoginShell = true } = options;
  if (login === true && !allowLoginShell) throw UnifiedExecError.loginDisabled();
  const argv = await toCommandLine(client, {
    cmd,
    shell: shell ?? options.shell,
    login: login ?? allowLoginShell,
  });
  return { argv, cwd: await resolveWorkdir(client, workdir, options.cwd), tty };
}

/** Starts it; the process never lives longer than its session. */
export function startCommand(
  client: UnifiedExecClient,
  { argv, cwd, tty }: PreparedCommand,
  id: string,
  { env, inheritEnv, sandbox }: UnifiedExecOptions,
  signal: AbortSignal | undefined,
): Promise<ProcessHandle> {
  const common = {
    id,
    cwd,
    env: { ...PLAIN_OUTPUT_ENV, ...env },
    graceMs: 0,
    // What it writes is collected here.
    output: { headBytes: 0, tailBytes: 0, truncate: 'middle' as const },
    ...(inheritEnv !== undefined && { inheritEnv }),
    ...(sandbox !== undefined && { sandbox }),
    ...(signal !== undefined && { signal }),
  };
  return tty ? spawnPty(client, argv, common) : spawnProcess(client, argv, common);
}

/** Why a command could not be started, where a model may do better next time; absent for what only the caller can. */
export function asStartFailure(error: unknown): ExecServerError | undefined {
  return error instanceof ExecServerError && MODEL_ERRORS.has(error.code) ? error : undefined;
}

const MODEL_ERRORS: ReadonlySet<string> = new Set([
  'spawn_failed',
  'rejected',
  'sandbox_denied',
  'argument_too_long',
]);

async function resolveWorkdir(
  client: UnifiedExecClient,
  workdir: string,
  cwd: string | URL | undefined,
): Promise<string> {
  if (workdir.startsWith('/')) return toPathUri(workdir);
  const base = cwd === undefined ? await defaultDirectory(client) : toPathUri(cwd);
  return workdir === '' ? base : toPathUri(toChildUri(base, workdir));
}
