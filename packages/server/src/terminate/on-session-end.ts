import type { Clock } from '../clock.js';
import type { ProcessRegistry, ProcessSlot } from '../process/process-registry.js';
import type { Session } from '../sessions/session.js';
import { killTrees } from './kill-trees.js';

/**
 * Kills everything that a session started, finished processes' leftovers too, and frees its ids. What was started to
 * outlive the session goes on under its ended session's name until its own time is up.
 */
export function terminateOnSessionEnd(registry: ProcessRegistry, session: Session, clock: Clock): void {
  const kept = registry.ofSession(session.id).filter(({ process }) => (process?.keepAliveMs ?? 0) > 0);
  const keptPids = new Set(kept.map(({ process }) => process?.pid));
  killTrees([...session.trees].filter(({ pid }) => !keptPids.has(pid)));
  for (const slot of registry.ofSession(session.id)) if (!kept.includes(slot)) forget(registry, slot);
  for (const slot of kept) {
    clock.after(slot.process?.keepAliveMs ?? 0, () => {
      if (slot.process !== undefined) killTrees([slot.process]);
      forget(registry, slot);
    });
  }
}

function forget(registry: ProcessRegistry, slot: ProcessSlot): void {
  slot.cancel();
  slot.process?.stdin?.abandon();
  slot.process?.release();
  registry.forget(slot);
}
