import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { checkOptions } from '../check-options.js';
import type { SessionClient } from '../session-client.js';
import { ExitError, keepPartialResult } from './errors.js';
import type { ProcessHandle } from './process-handle.js';
import type { ProcessResult } from './process-result.js';
import { spawnProcess } from './spawn.js';
import { RUN_OPTION_NAMES, type RunOptions } from './spawn-options.js';

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
  const { check = false, ...spawnOptions } = options;
  const handle = await spawnProcess(client, argv, spawnOptions);
  try {
    const result = await resultUnlessAborted(handle, options.signal);
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
): Promise<ProcessResult> {
  const terminate = () => {
    // If that cannot be done the connection is gone, and the wait for the result ends with it.
    handle.terminate().catch(() => {});
  };
  if (signal?.aborted === true) terminate();
  addAbortListener(signal, terminate);
  try {
    const result = await handle.result();
    if (signal?.aborted !== true) return result;
    keepPartialResult(signal.reason, result);
    throw signal.reason;
  } finally {
    removeAbortListener(signal, terminate);
  }
}

function lossOf({ failure, id }: ProcessHandle, result: ProcessResult): Error {
  const error = failure ?? ExitError.ofProgram(id, result);
  keepPartialResult(error, result);
  return error;
}
