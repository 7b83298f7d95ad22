import { ExecServerError } from '../errors.js';
import { describeOutcome } from './outcome.js';
import type { ProcessResult } from './process-result.js';
import { decodeText, severedLength } from './utf8.js';

/** What a message tells of the end of stderr, in bytes. */
const MAX_TOLD_BYTES = 1000;

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

  /** For a program that did not end well: its name and the end of stderr, not its arguments, which may be secrets. */
  static ofProgram(program: string, result: ProcessResult): ExitError {
    const after = result.timedOut ? ' after its `timeoutMs` had passed' : '';
    const words = `${program} ${describeOutcome(result.outcome)}${after}`;
    return new ExitError(`${words}${endOfErrors(result)}`, result);
  }
}

/** What a program said last on stderr, as far as a message has room for it. */
function endOfErrors({ stderr: { head, tail } }: ProcessResult): string {
  const bytes = tail.length > 0 ? tail : head;
  const newest = bytes.subarray(Math.max(0, bytes.length - MAX_TOLD_BYTES));
  const text = decodeText(newest.subarray(severedLength(newest))).trim();
  return text === '' ? '' : `: ${newest.length < bytes.length ? '… ' : ''}${text}`;
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
