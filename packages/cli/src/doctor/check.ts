/** Longest that anything that is started for a check may take, in milliseconds. */
export const PROBE_TIMEOUT_MS = 10_000;

/** What was found out about one thing that a server needs or can use. */
export interface Check {
  readonly name: string;
  /** `failed` is something that a server cannot do without; `limited` is something that is worth having. */
  readonly status: 'ok' | 'limited' | 'failed';
  readonly finding: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Does a check that may throw; what it throws is the finding. */
export async function attemptCheck(
  name: string,
  failure: Pick<Check, 'status' | 'advice'>,
  check: () => Promise<Check>,
): Promise<Check> {
  try {
    return await check();
  } catch (error) {
    return { name, ...failure, finding: error instanceof Error ? error.message : String(error) };
  }
}
