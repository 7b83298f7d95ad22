import type { Clock } from '../clock.js';
import type { ProcessRegistry, ProcessSlot } from '../process/process-registry.js';
import type { Session } from '../sessions/session.js';
import { killTrees } from './kill-trees.js';

/**
 * Kills everything that sessions started, finished processes' leftovers too, and frees their ids. What was started to
 * outlive its session goes on under its ended session's name until its own time is up.
 */
export function terminateOnSessionEnd(
  registry: ProcessRegistry,
  sessions: readonly Session[],
  clock: Clock,
): void {
  const slots = sessions.flatMap(({ id }) => registry.ofSession(id));
  const kept = new Set(slots.filter(isToBeKept));
  const keptTrees = new Set(Array.from(kept, ({ process }) => process?.tree));
  killTrees(sessions.flatMap(({ trees }) => [...trees]).filter((tree) => !keptTrees.has(tree)));
  for (const slot of slots) {
    if (kept.has(slot)) endLater(registry, slot, clock);
    else forget(registry, slot);
  }
}

function isToBeKept({ process }: ProcessSlot): boolean {
  return process !== undefined && process.keepAliveMs > 0 && !process.closed;
}

function endLater(registry: ProcessRegistry, slot: ProcessSlot, clock: Clock): void {
  const { process } = slot;
  if (process === undefined) return;
  const timer = clock.after(process.keepAliveMs, () => {
    killTrees([process]);
    forget(registry, slot);
  });
  // A timer that nobody needs would keep the output of the process for as long.
  void process.gone.then(() => timer.cancel());
}

function forget(registry: ProcessRegistry, slot: ProcessSlot): void {
  slot.cancel();
  slot.process?.stdin?.abandon();
  slot.process?.release();
  registry.forget(slot);
}
