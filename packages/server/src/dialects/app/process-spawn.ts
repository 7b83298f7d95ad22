import { app, invalidParams, invalidRequest } from '@exec-server/protocol';
import type { ConnectionScope, HandlerContext } from '../dialect.js';
import { checkSize } from './control.js';
import { exitCodeOf, type Run } from './run.js';
import type { OutputDelta } from './run-output.js';
import { ProcessRuns } from './runs.js';
import { type RunRequest, startRun } from './start-run.js';

/** Starts a process and answers when it runs; its end is a notification. */
export async function spawnProcess(
  params: app.ProcessSpawnParams,
  context: HandlerContext,
): Promise<Record<string, never>> {
  const { connection } = context;
  const runs = connection.keep(ProcessRuns);
  const run = await startRun(runs, toRunRequest(runs, params, connection), context);
  void notifyExit(connection, params.processHandle, run);
  return {};
}

async function notifyExit(connection: ConnectionScope, processHandle: string, run: Run): Promise<void> {
  const end = await run.over;
  const { output } = run;
  const exited: app.ProcessExitedNotification = {
    processHandle,
    exitCode: exitCodeOf(end),
    outputDrainTimedOut: !end.drained,
    stdout: output.text('stdout'),
    stdoutCapReached: output.capReached('stdout'),
    stderr: output.text('stderr'),
    stderrCapReached: output.capReached('stderr'),
  };
  connection.notify('process/exited', exited);
}

/** Checks in the order in which a client may rely on. Throws an `RpcError`. */
function toRunRequest(
  runs: ProcessRuns,
  params: app.ProcessSpawnParams,
  connection: ConnectionScope,
): RunRequest {
  const { processHandle, command, cwd, size, env = {}, tty = false } = params;
  const { outputBytesCap = app.DEFAULT_OUTPUT_BYTES_CAP, timeoutMs = app.DEFAULT_TIMEOUT_MS } = params;
  if (command.length === 0) throw invalidRequest('command must not be empty');
  if (processHandle === '') throw invalidRequest('processHandle must not be empty');
  if (size !== undefined && !tty) throw invalidParams('process/spawn size requires tty: true');
  if (timeoutMs !== null && timeoutMs < 0)
    throw invalidParams(`process/spawn timeoutMs must be non-negative, got ${timeoutMs}`);
  if (size !== undefined) checkSize(runs, size);
  const send = (delta: OutputDelta) => connection.notify('process/outputDelta', { processHandle, ...delta });
  return {
    id: processHandle,
    command,
    cwd,
    env,
    tty,
    size,
    streamStdin: tty || params.streamStdin === true,
    timeoutMs: timeoutMs ?? undefined,
    output: {
      capBytes: outputBytesCap ?? Number.POSITIVE_INFINITY,
      send: tty || params.streamStdoutStderr ? send : undefined,
    },
  };
}
