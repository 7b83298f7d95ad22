import type { Clock } from '../clock.js';
import type { ProcessRegistry } from '../process/process-registry.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import type { Logger } from '../telemetry/logger.js';
import { killTrees } from './kill-trees.js';

/** Ends every session and resolves when their processes are gone and on record, or `graceMs` have passed. */
export async function terminateOnShutdown(
  sessions: SessionRegistry,
  processes: ProcessRegistry,
  options: { readonly clock: Clock; readonly graceMs: number; readonly logger: Logger },
): Promise<void> {
  const ends = Array.from(processes.processes(), ({ recorded }) => recorded);
  sessions.endAll();
  // Those that outlive their sessions do not outlive the server.
  const { refusal, rest } = killTrees([...processes.processes()]);
  if (refusal !== undefined) options.logger.warn({ err: refusal }, 'some processes could not be ended');
  await new Promise<void>((resolve) => {
    const timer = options.clock.after(options.graceMs, resolve);
    void Promise.all([...ends, rest]).then(() => {
      timer.cancel();
      resolve();
    });
  });
}
