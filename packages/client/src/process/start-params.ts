import type { ParamsOf } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { toPathUri } from '../fs/remote-path.js';
import { requireCapability } from '../require-capability.js';
import { toConfinement } from '../sandbox.js';
import type { SessionClient } from '../session-client.js';
import { requireOneOf, requireWholeNumber, usageError } from '../usage.js';
import { type CommonOptions, OUTPUT_OPTION_NAMES, TRUNCATIONS } from './spawn-options.js';

/** What lies between SIGTERM and SIGKILL where the caller does not say, in milliseconds. */
export const DEFAULT_GRACE_MS = 5000;

/** What a process is attached to. */
export interface StdioChoice {
  readonly tty: boolean;
  readonly pipeStdin: boolean;
  /** Size of the terminal. */
  readonly size?: { readonly rows: number; readonly cols: number };
}

type StartParams = ParamsOf<'process/start'>;

/** The request that starts a process. Rejects with `capability_missing` for what the server would ignore. */
export async function toStartParams(
  client: SessionClient,
  processId: string,
  argv: readonly string[],
  options: CommonOptions,
  { tty, pipeStdin, size }: StdioChoice,
): Promise<StartParams> {
  checkArgv(argv);
  checkOptions('`output`', options.output ?? {}, OUTPUT_OPTION_NAMES);
  checkNumbers(options);
  const {
    inheritEnv = 'core',
    timeoutMs,
    tags,
    keepAliveMs,
    startKey,
    arg0,
    traceEnv,
    sandbox,
    output,
  } = options;
  const cwd = options.cwd === undefined ? await defaultDirectory(client) : toPathUri(options.cwd);
  const confinement = sandbox === undefined ? {} : toConfinement(sandbox, cwd);
  if (confinement.networkProxy !== undefined) await requireCapability(client, 'networkProxyLaunch');
  if (timeoutMs !== undefined) await requireCapability(client, 'processTimeout');
  if (tags !== undefined) await requireCapability(client, 'processTags');
  if (keepAliveMs !== undefined) await requireCapability(client, 'processKeepAlive');
  if (startKey !== undefined) await requireCapability(client, 'processStartKey');
  if (traceEnv === true) await requireCapability(client, 'processTraceEnv');
  if (output?.spill === true) await requireCapability(client, 'processSpill');
  if (size !== undefined) await requireCapability(client, 'processSize');
  return {
    processId,
    argv: [...argv],
    cwd,
    env: definedOf(options.env ?? {}),
    tty,
    pipeStdin,
    ...(inheritEnv !== 'none' && { envPolicy: inherit(inheritEnv) }),
    ...(timeoutMs !== undefined && { timeoutMs, graceMs: options.graceMs ?? DEFAULT_GRACE_MS }),
    ...(tags !== undefined && { tags: { ...tags } }),
    ...(keepAliveMs !== undefined && { keepAliveMs }),
    ...(startKey !== undefined && { startKey }),
    ...(arg0 !== undefined && { arg0 }),
    ...(traceEnv === true && { traceEnv }),
    ...confinement,
    ...(output?.spill === true && { spill: true }),
    ...(size !== undefined && { size }),
  };
}

function checkArgv(argv: readonly string[]): void {
  if (typeof argv === 'string')
    throw usageError('a command is an array of program and arguments; for a command line use `sh`');
  if (!Array.isArray(argv) || argv.length === 0 || !argv.every((part) => typeof part === 'string'))
    throw usageError('a command is an array of strings with at least the program');
}

function checkNumbers({ keepAliveMs, timeoutMs, graceMs, output }: CommonOptions): void {
  requireWholeNumber('keepAliveMs', keepAliveMs);
  requireWholeNumber('timeoutMs', timeoutMs);
  requireWholeNumber('graceMs', graceMs);
  requireWholeNumber('output.headBytes', output?.headBytes);
  requireWholeNumber('output.tailBytes', output?.tailBytes);
  requireOneOf('output.truncate', output?.truncate, TRUNCATIONS);
}

/** Where a process runs that is not told where, as a `file:` URL. */
export async function defaultDirectory(client: SessionClient): Promise<string> {
  const { cwd, userHomeDir } = await client.environment();
  return cwd ?? userHomeDir ?? 'file:///';
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) defined[name] = value;
  return defined;
}

function inherit(from: 'core' | 'all'): NonNullable<StartParams['envPolicy']> {
  return { inherit: from, ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] };
}
