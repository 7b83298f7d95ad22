import type { Clock } from '../clock.js';
import type { ProcessRegistry, ProcessSlot } from '../process/process-registry.js';
import type { Session } from '../sessions/session.js';
import type { Logger } from '../telemetry/logger.js';
import { killTrees, type TreeRoot } from './kill-trees.js';

/**
 * Kills everything that sessions started, finished processes' leftovers too, and frees their ids. What was started to
 * outlive its session goes on under its ended session's name until its own time is up.
 */
export function terminateOnSessionEnd(
  registry: ProcessRegistry,
  sessions: readonly Session[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): void {
  const slots = sessions.flatMap(({ id }) => registry.ofSession(id));
  const kept = new Set(slots.filter(isToBeKept));
  const keptTrees = new Set(Array.from(kept, ({ process }) => process?.tree));
  const ended = sessions.flatMap(({ trees }) => [...trees]).filter((tree) => !keptTrees.has(tree));
  killOrWarn(ended, { sessionIds: sessions.map(({ id }) => id) }, logger);
  for (const slot of slots) {
    if (kept.has(slot)) endLater(registry, slot, clock, logger);
    else forget(registry, slot);
  }
}

function isToBeKept({ process }: ProcessSlot): boolean {
  return process !== undefined && process.keepAliveMs > 0 && !process.closed;
}

function endLater(registry: ProcessRegistry, slot: ProcessSlot, clock: Clock, logger: Logger): void {
  const { process, sessionId, processId } = slot;
  if (process === undefined) return;
  const timer = clock.after(process.keepAliveMs, () => {
    killOrWarn([process], { sessionId, processId }, logger);
    forget(registry, slot);
  });
  // A timer that nobody needs would keep the output of the process for as long.
  void process.gone.then(() => timer.cancel());
}

/** Nobody is there to be told that somebody is out of reach, such as a process that has become another user's. */
function killOrWarn(trees: readonly TreeRoot[], ids: object, logger: Logger): void {
  const { refusal, rest } = killTrees(trees);
  if (refusal !== undefined)
    logger.warn({ ...ids, err: refusal }, 'what a session left running could not all be ended');
  if (rest !== undefined)
    logger.warn(ids, 'processes of a session could not be looked for: it is tried again');
}

function forget(registry: ProcessRegistry, slot: ProcessSlot): void {
  slot.cancel();
  slot.process?.stdin?.abandon();
  slot.process?.release();
  registry.forget(slot);
}
