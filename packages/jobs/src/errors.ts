/** What kind of failure it is. */
export type JobErrorCode =
  /** An option or its value makes no sense. */
  | 'usage'
  /** The rows cannot be read. */
  | 'input'
  /** There is no such job or item. */
  | 'not_found'
  /** Another runner has the job. */
  | 'locked'
  /** The job is in a state that does not allow it. */
  | 'state'
  /** What is stored of the job cannot be read. */
  | 'corrupt'
  /** The results cannot be written. */
  | 'output'
  /** The job's own server cannot be started or reached. */
  | 'server';

/** Why a job cannot be run, resumed or read. Failures of items are no errors: they are in their items. */
export class JobError extends Error {
  override readonly name = 'JobError';

  constructor(
    readonly code: JobErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What went wrong in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
