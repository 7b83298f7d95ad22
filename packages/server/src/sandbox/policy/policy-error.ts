/** Why a sandbox context means nothing on this host. A dialect gives each kind its code. */
export type PolicyFailure =
  /** A path of another platform. */
  | 'foreign-path'
  /** It names project roots or relative patterns, and no directory to start at. */
  | 'needs-cwd'
  /** A rule that cannot be kept. */
  | 'unenforceable';

export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  constructor(
    readonly failure: PolicyFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The refusal of a policy that cannot be kept, with the reason. */
export function unenforceable(reason: string): PolicyError {
  return new PolicyError('unenforceable', `sandbox intent cannot be enforced on this executor: ${reason}`);
}
