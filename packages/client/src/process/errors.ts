import { ExecServerError } from '../errors.js';
import { describeOutcome } from './outcome.js';
import type { ProcessResult } from './process-result.js';

/** The process ended in another way than the caller insisted on. */
export class ExitError extends ExecServerError {
  override readonly name = 'ExitError';

  constructor(
    message: string,
    /** What became of the process, and what it wrote. */
    readonly result: ProcessResult,
  ) {
    super('exit', message);
  }

  /** For a program that did not end well. Only its name is told: arguments may be secrets. */
  static ofProgram(program: string, result: ProcessResult): ExitError {
    const after = result.timedOut ? ' after its `timeoutMs` had passed' : '';
    return new ExitError(`${program} ${describeOutcome(result.outcome)}${after}`, result);
  }
}

/** What was waited for did not happen in time. The process goes on. */
export class WaitTimeoutError extends ExecServerError {
  override readonly name = 'WaitTimeoutError';

  constructor(
    message: string,
    /** What the process had written by then. */
    readonly result: ProcessResult,
  ) {
    super('wait_timeout', message, { retryable: true });
  }
}

const partialResults = new WeakMap<object, ProcessResult>();

/**
 * What a process had written when an error ended the wait for it: for errors of this package that carry a result, and
 * for reasons of abort signals that `run` rejects with. A reason that ended several runs tells of the last of them.
 */
export function partialResultOf(error: unknown): ProcessResult | undefined {
  if (error instanceof ExitError || error instanceof WaitTimeoutError) return error.result;
  return typeof error === 'object' && error !== null ? partialResults.get(error) : undefined;
}

/** Remembers a partial result for an error that has no place for it. */
export function keepPartialResult(error: unknown, result: ProcessResult): void {
  if (typeof error === 'object' && error !== null) partialResults.set(error, result);
}
