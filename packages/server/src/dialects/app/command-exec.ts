import { app, internalError, invalidParams, invalidRequest } from '@exec-server/protocol';
import type { HandlerContext } from '../dialect.js';
import { Agreement } from './agreement.js';
import { checkSize } from './control.js';
import { exitCodeOf } from './run.js';
import { MAX_COLLECTED_BYTES, type OutputDelta } from './run-output.js';
import { CommandRuns } from './runs.js';
import { findProfile } from './sandbox-policy.js';
import { type RunRequest, startRun } from './start-run.js';

/** Runs a command and answers when it has ended. */
export async function execCommand(
  params: app.CommandExecParams,
  context: HandlerContext,
): Promise<app.CommandExecResult> {
  const runs = context.connection.keep(CommandRuns);
  const request = toRunRequest(runs, params, context);
  const run = await startRun(runs, request, context);
  const end = await context.place.park(run.over);
  const { output } = run;
  if (output.overflowed)
    throw internalError(
      `command/exec output exceeds the ${MAX_COLLECTED_BYTES} bytes per stream that a response can carry`,
    );
  return { exitCode: exitCodeOf(end), stdout: output.text('stdout'), stderr: output.text('stderr') };
}

/** Checks in the order in which a client may rely on. Throws an `RpcError`. */
function toRunRequest(
  runs: CommandRuns,
  params: app.CommandExecParams,
  { connection }: HandlerContext,
): RunRequest {
  const { processId: id, permissionProfile, size, env = {}, tty = false } = params;
  if (permissionProfile !== undefined && !connection.keep(Agreement).experimentalApi)
    throw invalidRequest('command/exec.permissionProfile requires experimentalApi capability');
  if (params.command.length === 0) throw invalidRequest('command must not be empty');
  if (permissionProfile !== undefined && params.sandboxPolicy !== undefined)
    throw invalidRequest('`permissionProfile` cannot be combined with `sandboxPolicy`');
  if (size !== undefined && !tty) throw invalidParams('command/exec size requires tty: true');
  const capBytes = chooseCap(params);
  const timeoutMs = chooseTimeout(params);
  const policy = permissionProfile === undefined ? params.sandboxPolicy : findProfile(permissionProfile);
  if (size !== undefined) checkSize(runs, size);
  const streamStdin = tty || params.streamStdin === true;
  const streamOutput = tty || params.streamStdoutStderr === true;
  if (id === undefined && (streamStdin || streamOutput))
    throw invalidRequest('command/exec tty or streaming requires a client-supplied processId');
  const send = (delta: OutputDelta) =>
    connection.notify('command/exec/outputDelta', { processId: id, ...delta });
  return {
    id,
    command: params.command,
    cwd: params.cwd ?? '',
    env,
    tty,
    size,
    streamStdin,
    timeoutMs,
    output: { capBytes, send: streamOutput ? send : undefined },
    policy,
  };
}

function chooseCap({ outputBytesCap, disableOutputCap }: app.CommandExecParams): number {
  if (!disableOutputCap) return outputBytesCap ?? app.DEFAULT_OUTPUT_BYTES_CAP;
  if (outputBytesCap !== undefined)
    throw invalidParams('command/exec cannot set both outputBytesCap and disableOutputCap');
  return Number.POSITIVE_INFINITY;
}

function chooseTimeout({ timeoutMs, disableTimeout }: app.CommandExecParams): number | undefined {
  if (disableTimeout) {
    if (timeoutMs !== undefined)
      throw invalidParams('command/exec cannot set both timeoutMs and disableTimeout');
    return undefined;
  }
  if (timeoutMs !== undefined && timeoutMs < 0)
    throw invalidParams(`command/exec timeoutMs must be non-negative, got ${timeoutMs}`);
  return timeoutMs ?? app.DEFAULT_TIMEOUT_MS;
}
