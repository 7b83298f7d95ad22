import type { ProcessRegistry } from '../process/process-registry.js';
import type { Session } from '../sessions/session.js';
import { killTrees } from './kill-trees.js';

/**
 * Kills everything that a session started, finished processes' leftovers too, as far as the system lets it, and frees
 * its ids.
 */
export function terminateOnSessionEnd(registry: ProcessRegistry, session: Session): void {
  killTrees([...session.trees]);
  for (const slot of registry.ofSession(session.id)) {
    slot.cancel();
    slot.process?.stdin?.abandon();
    slot.process?.release();
    registry.forget(slot);
  }
}
