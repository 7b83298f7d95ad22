import { resolve } from 'node:path';
import {
  type app,
  type EnvPolicy,
  internalError,
  invalidRequest,
  nativeToPathUri,
  type RpcError,
} from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import { ExitAfterOutput } from '../../output/exit-after-output.js';
import type { StartRequest } from '../../process/launch-plan.js';
import type { TerminalSize } from '../../process/managed-process.js';
import { startProcess } from '../../process/start.js';
import { StartError } from '../../process/start-error.js';
import type { HandlerContext } from '../dialect.js';
import { spawnFailure } from '../os-failure.js';
import { ProcessSinks } from '../process-sinks.js';
import { Run } from './run.js';
import { RunOutput, type RunOutputOptions } from './run-output.js';
import type { Runs } from './runs.js';
import { toConfinement } from './sandbox-policy.js';
import type { FamilyWords } from './words.js';

/** Children get the server's whole environment, but for what no child gets. */
const INHERIT_ALL: EnvPolicy = {
  inherit: 'all',
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
};

/** What either family of methods asks for, with its defaults filled in. */
export interface RunRequest {
  /** The client's name for the process. */
  readonly id: string | undefined;
  readonly command: readonly string[];
  /** A relative one counts from the server's own directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | null>>;
  readonly tty: boolean;
  readonly size: TerminalSize | undefined;
  readonly streamStdin: boolean;
  /** Absent for as long as it takes. */
  readonly timeoutMs: number | undefined;
  readonly output: RunOutputOptions;
  /** What it may touch. Absent for everything that the server may. */
  readonly policy?: app.SandboxPolicy | undefined;
}

/** Starts a process of a client. Throws an {@link RpcError}. */
export function startRun(runs: Runs, request: RunRequest, context: HandlerContext): Promise<Run> {
  const { engine, session, connection, place } = context;
  return runs.start(request.id, place, async () => {
    const cwd = resolve(request.cwd);
    const start = toStartRequest(runs.nameProcess(request.id), request, cwd);
    const confinement = toConfinement(request.policy, cwd);
    const output = new RunOutput(connection, request.output);
    const sink = new ExitAfterOutput(output, engine.clock);
    try {
      const process = await connection
        .keep(ProcessSinks)
        .during(start.processId, sink, () => startProcess(engine, session, start, confinement));
      return new Run(engine, session, process, output);
    } catch (error) {
      throw error instanceof StartError ? startErrorToRpc(error, runs.words) : error;
    }
  });
}

function toStartRequest(processId: string, request: RunRequest, cwd: string): StartRequest {
  const { timeoutMs } = request;
  return {
    processId,
    command: { way: 'direct', env: request.env, envPolicy: INHERIT_ALL, extraEnv: new Map() },
    argv: request.command,
    cwd: Buffer.from(cwd),
    cwdText: nativeToPathUri(cwd),
    tty: request.tty,
    pipeStdin: request.streamStdin,
    size: request.size,
    timeLimit: timeoutMs === undefined ? undefined : { timeoutMs, graceMs: 0 },
    retainClosed: false,
    tags: {},
  };
}

function startErrorToRpc({ failure, message, cause }: StartError, words: FamilyWords): RpcError {
  switch (failure) {
    case 'spawn-failed': {
      const failed = spawnFailure(cause instanceof OsError ? cause : undefined);
      return internalError(`${words.spawnFailed}: ${message}`, ...failed);
    }
    case 'refused':
      return internalError(`exec failed: ${message}`, 'sandbox_refused');
    case 'empty-argv':
      return invalidRequest(message);
    case 'id-taken':
      return invalidRequest(message, 'process_exists');
    case 'over-limit':
      return invalidRequest(message, 'limit_reached');
    case 'not-allowed':
      return invalidRequest(message, 'start_forbidden');
    case 'cancelled':
      return invalidRequest(message, 'start_cancelled');
  }
}
