import type { EndEntry, Result } from '../store/journal-entry.js';
import type { WorkerEnd } from './worker-process.js';

/** What an attempt came to. */
export type AttemptEnd =
  | { readonly status: 'completed'; readonly result?: Result; readonly reportedAt?: number }
  | { readonly status: 'failed'; readonly error: string };

/** Said of a worker that ended well without the result that is demanded; the reference's words. */
export const NO_REPORT = 'worker finished without calling report_agent_job_result';

/** A duration as the reference writes it: `1800s`, `1.5s`, `250ms`. */
function describeDuration(ms: number): string {
  return ms < 1000 ? `${ms}ms` : `${ms / 1000}s`;
}

/** Why an end is no success; nothing for exit code 0. */
export function describeFailure(end: WorkerEnd, timeoutMs: number): string | undefined {
  if (end.kind === 'unknown') return `outcome unknown: ${end.reason}`;
  const { exitCode, signal, timedOut, sandboxDenied } = end.exit;
  if (timedOut) return `worker exceeded max runtime of ${describeDuration(timeoutMs)}`;
  if (exitCode === 0) return undefined;
  const how = signal === undefined ? `exited with code ${exitCode}` : `was ended by ${signal}`;
  return sandboxDenied === true ? `worker was denied something by its sandbox and ${how}` : `worker ${how}`;
}

/** An end in words, for the record. */
export function describeEnd(end: WorkerEnd): string {
  if (end.kind === 'unknown') return `unknown: ${end.reason}`;
  const { exitCode, signal } = end.exit;
  return signal === undefined ? `exited with code ${exitCode}` : `ended by ${signal}`;
}

/** The entry of an end. One that failed and may be tried again waits for the next attempt. */
export function toEndEntry(
  { index, attempt }: { readonly index: number; readonly attempt: number },
  end: AttemptEnd,
  canRetry: boolean,
): EndEntry {
  const common = { type: 'end', item: index, attempt, at: Date.now() } as const;
  if (end.status === 'failed')
    return { ...common, status: canRetry ? 'pending' : 'failed', error: end.error };
  const { result, reportedAt } = end;
  return {
    ...common,
    status: 'completed',
    ...(result !== undefined && { result }),
    ...(reportedAt !== undefined && { reportedAt }),
  };
}
