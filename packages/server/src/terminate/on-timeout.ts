import type { Clock } from '../clock.js';
import type { ManagedProcess } from '../process/managed-process.js';
import type { Logger } from '../telemetry/logger.js';
import { terminateOnRequest } from './on-request.js';

/** When a process is to be ended, and how. */
export interface TimeLimit {
  readonly timeoutMs: number;
  /** Time between SIGTERM and SIGKILL; 0 kills at once. */
  readonly graceMs: number;
}

/** Ends a process with everything it started once its time is up. */
export function terminateOnTimeout(
  process: ManagedProcess,
  { timeoutMs, graceMs }: TimeLimit,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): void {
  const timer = clock.after(timeoutMs, () => {
    process.markTimedOut();
    terminateOnRequest(process, graceMs === 0 ? 'force' : { graceMs }, clock).catch((err: unknown) =>
      logger.warn({ err, pid: process.pid }, 'a process whose time is up could not be ended'),
    );
  });
  void process.ended.then(() => timer.cancel());
}
