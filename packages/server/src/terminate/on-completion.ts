import type { ManagedProcess } from '../process/managed-process.js';
import type { ProcessEngine } from '../process/process-engine.js';
import { signalNumber } from '../process/signal-names.js';
import type { Session } from '../sessions/session.js';

/**
 * Lets go of a process whose end has been told, for dialects in which nobody can ask about it later: what it left in its
 * group is killed, nobody reads its streams any more, and its id is free.
 */
export function terminateOnCompletion(
  { registry, logger }: Pick<ProcessEngine, 'registry' | 'logger'>,
  session: Session,
  process: ManagedProcess,
): void {
  try {
    process.signalGroup(signalNumber('SIGKILL'));
  } catch (err) {
    logger.warn({ err, pid: process.pid }, 'what a process left behind could not be ended');
  }
  process.setOwner(undefined);
  process.release();
  const slot = registry.find(session.id, process.id);
  if (slot?.process === process) registry.forget(slot);
}
