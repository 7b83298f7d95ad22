import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { checkOptions } from '../check-options.js';
import type { SessionClient } from '../session-client.js';
import { ExitError, keepPartialResult } from './errors.js';
import type { ProcessHandle } from './process-handle.js';
import type { ProcessResult } from './process-result.js';
import { spawnProcess } from './spawn.js';
import { RUN_OPTION_NAMES, type RunOptions } from './spawn-options.js';
import { type ToldOutput, tellOutput } from './tell-output.js';

/**
 * Runs a command and waits for its end and for the end of its output. A code other than 0, a signal and an unknown
 * outcome are results like any other unless `check` is set.
 */
export async function runProcess(
  client: SessionClient,
  argv: readonly string[],
  options: RunOptions = {},
): Promise<ProcessResult> {
  checkOptions('run', options, RUN_OPTION_NAMES);
  const { check = false, onStdout, onStderr, onOutput, ...spawnOptions } = options;
  const handle = await spawnProcess(client, argv, spawnOptions);
  try {
    const callbacks = {
      ...(onStdout && { onStdout }),
      ...(onStderr && { onStderr }),
      ...(onOutput && { onOutput }),
    };
    const isHeard = Object.keys(callbacks).length > 0;
    const told = isHeard ? tellOutput(handle, callbacks) : undefined;
    const result = await resultUnlessAborted(handle, options.signal, told);
    if (check && result.outcome.kind === 'unknown') throw lossOf(handle, result);
    // A program that tidies up and exits with 0 when its time is over has not done its work either.
    if (check && (result.exitCode !== 0 || result.timedOut)) throw ExitError.ofProgram(argv[0] ?? '', result);
    return result;
  } finally {
    handle.detach();
  }
}

async function resultUnlessAborted(
  handle: ProcessHandle,
  signal: AbortSignal | undefined,
  told: ToldOutput | undefined,
): Promise<ProcessResult> {
  const terminate = () => {
    // If that cannot be done the connection is gone, and the wait for the result ends with it.
    handle.terminate().catch(() => {});
  };
  if (signal?.aborted === true) terminate();
  addAbortListener(signal, terminate);
  try {
    const result = await resultUnlessRefused(handle, told);
    if (signal?.aborted !== true) return result;
    keepPartialResult(signal.reason, result);
    throw signal.reason;
  } finally {
    removeAbortListener(signal, terminate);
  }
}

/** What a callback throws ends the process. */
async function resultUnlessRefused(
  handle: ProcessHandle,
  told: ToldOutput | undefined,
): Promise<ProcessResult> {
  if (told === undefined) return handle.result();
  try {
    const result = await Promise.race([handle.result(), told.failed]);
    await told.finish();
    return result;
  } catch (error) {
    // If that cannot be done the connection is gone, and the session ends the process.
    await handle.terminate().catch(() => {});
    throw error;
  }
}

function lossOf({ failure, id }: ProcessHandle, result: ProcessResult): Error {
  const error = failure ?? ExitError.ofProgram(id, result);
  keepPartialResult(error, result);
  return error;
}
