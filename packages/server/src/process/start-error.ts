/** Why a process was not started. A dialect gives each kind its code and words. */
export type StartFailure =
  | 'empty-argv'
  | 'refused'
  | 'id-taken'
  | 'over-limit'
  | 'not-allowed'
  | 'cancelled'
  | 'spawn-failed';

export class StartError extends Error {
  override readonly name = 'StartError';
  constructor(
    readonly failure: StartFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
