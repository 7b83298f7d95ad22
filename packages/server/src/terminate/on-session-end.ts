import type { Clock } from '../clock.js';
import type { ProcessRegistry, ProcessSlot } from '../process/process-registry.js';
import type { Session } from '../sessions/session.js';
import type { Logger } from '../telemetry/logger.js';
import { killOneTree } from './kill-one-tree.js';
import { killTrees, type SignalOutcome, type TreeRoot } from './kill-trees.js';

interface SessionEndOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Whether everything is killed before the call returns, as the end of the server wants it. Otherwise the kills take
   * turns with what the server does for others. @default false
   */
  readonly atOnce?: boolean;
}

/** Trees of sessions that have ended and are still to be killed, in the order of their ends. */
const dueTrees = new Set<TreeRoot>();

/** Those that the end of a server must not leave to turns that never come. */
export function takeDueTrees(): TreeRoot[] {
  return [...dueTrees];
}

/**
 * Kills everything that sessions started, finished processes' leftovers too, and frees their ids. What was started to
 * outlive its session goes on under its ended session's name until its own time is up.
 */
export function terminateOnSessionEnd(
  registry: ProcessRegistry,
  sessions: readonly Session[],
  { clock, logger, atOnce = false }: SessionEndOptions,
): void {
  const slots = sessions.flatMap(({ id }) => registry.ofSession(id));
  const kept = new Set(slots.filter(isToBeKept));
  const keptTrees = new Set(Array.from(kept, ({ process }) => process?.tree));
  const ended = sessions.flatMap(({ trees }) => [...trees]).filter((tree) => !keptTrees.has(tree));
  const report = reportTo(logger, { sessionIds: sessions.map(({ id }) => id) });
  for (const slot of kept) endLater(registry, slot, clock, logger);
  const forgotten = slots.filter((slot) => !kept.has(slot));
  if (atOnce) {
    report([killTrees(ended)]);
    for (const slot of forgotten) forget(registry, slot);
    return;
  }
  void killInTurns(ended, forgotten, registry).then(report);
}

/** Each process is let go of when it has been killed: one that sees the end of its input may exit in its own way. */
async function killInTurns(
  trees: readonly TreeRoot[],
  slots: readonly ProcessSlot[],
  registry: ProcessRegistry,
): Promise<SignalOutcome[]> {
  const slotOf = new Map<TreeRoot, ProcessSlot>();
  const ended = new Set(trees);
  for (const slot of slots) {
    const tree = slot.process?.tree;
    // Nothing is left of a process without one, or it has not been started yet.
    if (tree === undefined || !ended.has(tree)) forget(registry, slot);
    else slotOf.set(tree, slot);
  }
  for (const tree of trees) dueTrees.add(tree);
  const kills = trees.map((tree) =>
    killOneTree(tree, () => {
      dueTrees.delete(tree);
      const slot = slotOf.get(tree);
      if (slot !== undefined) forget(registry, slot);
    }),
  );
  return Promise.all(kills);
}

function isToBeKept({ process }: ProcessSlot): boolean {
  return process !== undefined && process.keepAliveMs > 0;
}

function endLater(registry: ProcessRegistry, slot: ProcessSlot, clock: Clock, logger: Logger): void {
  const { process, sessionId, processId } = slot;
  // What has closed is kept, and forgotten, with the other results.
  if (process === undefined || process.closed) return;
  const timer = clock.after(process.keepAliveMs, () => {
    void killInTurns([process.tree], [slot], registry).then(reportTo(logger, { sessionId, processId }));
  });
  // A timer that nobody needs would keep the output of the process for as long.
  void process.gone.then(() => timer.cancel());
}

/** Nobody is there to be told that somebody is out of reach, such as a process that has become another user's. */
function reportTo(logger: Logger, ids: object): (outcomes: readonly SignalOutcome[]) => void {
  return (outcomes) => {
    const refusal = outcomes.find((outcome) => outcome.refusal !== undefined)?.refusal;
    if (refusal !== undefined)
      logger.warn({ ...ids, err: refusal }, 'what a session left running could not all be ended');
    if (outcomes.some(({ rest }) => rest !== undefined))
      logger.warn(ids, 'processes of a session could not be looked for: it is tried again');
  };
}

function forget(registry: ProcessRegistry, slot: ProcessSlot): void {
  slot.cancel();
  slot.process?.stdin?.abandon();
  slot.process?.release();
  registry.forget(slot);
}
