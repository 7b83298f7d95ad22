import type { Session } from '../sessions/session.js';
import type { ManagedProcess } from './managed-process.js';
import type { ProcessEngine } from './process-engine.js';
import { signalNumber } from './signal-names.js';

/**
 * Lets go of a process that has exited and whose end was told: kills what is left of its group, gives up streams that
 * somebody else still holds open, and frees its id.
 */
export function dismissProcess(
  { registry, logger }: ProcessEngine,
  session: Session,
  process: ManagedProcess,
): void {
  process.setOwner(undefined);
  try {
    process.signalGroup(signalNumber('SIGKILL'));
  } catch (err) {
    logger.warn({ err, pid: process.pid }, 'what a process has left behind could not be ended');
  }
  process.release();
  const slot = registry.find(session.id, process.id);
  if (slot?.process === process) registry.forget(slot);
}
