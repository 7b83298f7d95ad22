import { setTimeout as sleep } from 'node:timers/promises';
import { collectLeaders } from '../native/leftover-sweep.js';
import { NewProcesses } from '../native/new-processes.js';
import { collectTrees, readProcessTable, type TreeMember } from '../native/process-tree.js';
import { findMarked, visitInTurns } from '../native/tree-marks.js';
import { ownNumbers, type SignalOutcome, stopAndKill, type TreeRoot } from './kill-trees.js';

/** Time in which killed trees gather for one look at all processes, in milliseconds. */
const GATHER_MS = 250;

/** Time after which a look that failed is repeated, in milliseconds. */
const RETRY_MS = 250;

const NOBODY: SignalOutcome = { pids: [], refusal: undefined };

/** A tree that was killed as far as it was in its cgroup. */
interface KilledTree {
  readonly root: TreeRoot;
  readonly members: readonly TreeMember[];
}

/** Trees that one look serves. */
interface Batch {
  readonly trees: KilledTree[];
  readonly outcomes: Promise<ReadonlyMap<KilledTree, SignalOutcome>>;
  readonly hurry: () => void;
}

/**
 * Kills who is left of trees that were killed by their cgroups: a process that moved to another cgroup and lost its
 * parents. Only a look at every process finds those, so that one look serves many trees, and takes
 * its time in turns of the loop.
 */
class StragglerSweep {
  #gathering: Batch | null = null;
  #lastSweep: Promise<unknown> = Promise.resolve();

  /** Returns a function that hurries the look at this tree, and resolves with whom it found. */
  add(tree: KilledTree): () => Promise<SignalOutcome> {
    this.#gathering ??= this.#gather();
    const { trees, hurry, outcomes } = this.#gathering;
    trees.push(tree);
    return async () => {
      hurry();
      return (await outcomes).get(tree) ?? NOBODY;
    };
  }

  /** Trees can be added until their look begins, which it does not before the one before is over. */
  #gather(): Batch {
    const trees: KilledTree[] = [];
    let hurry = () => {};
    const due = new Promise<void>((resolve) => {
      setTimeout(resolve, GATHER_MS).unref();
      // Those that are killed in the same turn of the loop are in as much of a hurry.
      hurry = () => void setImmediate(resolve);
    });
    const outcomes = Promise.all([due, this.#lastSweep]).then(() => {
      this.#gathering = null;
      return killStragglers(trees);
    });
    this.#lastSweep = outcomes;
    return { trees, outcomes, hurry };
  }
}

export const stragglerSweep = new StragglerSweep();

async function killStragglers(trees: readonly KilledTree[]): Promise<Map<KilledTree, SignalOutcome>> {
  const marks = new Set<number>();
  const reader = trees.find(({ root }) => root.mark !== null)?.root.mark?.marks;
  const leaders = await persist(async () => {
    const newProcesses = new NewProcesses();
    const note = reader && ((pid: number) => void marks.add(reader.readAny(pid)));
    const found = await collectLeaders(note);
    if (note !== undefined) await visitInTurns(newProcesses, note);
    return found;
  });
  const left = trees.filter(({ root, members }) => {
    if (root.mark !== null && marks.has(root.mark.number)) return true;
    return [root, ...members].some(({ pid }) => leaders.has(pid));
  });
  const outcomes = left.map(async (tree) => [tree, await persist(() => killStragglersOf(tree))] as const);
  return new Map(await Promise.all(outcomes));
}

async function killStragglersOf(tree: KilledTree): Promise<SignalOutcome> {
  const { failure, emptied, ...outcome } = stopAndKill([tree.root], () => findStragglers(tree));
  const problem = failure ?? (await emptied);
  if (problem !== undefined) throw problem;
  return outcome;
}

/** Repeats what fails because nobody can be looked for now. */
async function persist<Result>(look: () => Result | Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await look();
    } catch {
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
}

/** Who is in a session or group of the tree now, or bears its mark. A number that somebody else has got meanwhile means nobody of it. */
function findStragglers({ root, members }: KilledTree): TreeMember[] {
  const table = readProcessTable();
  const others = members.filter(({ pid, startTime }) => {
    return pid !== root.pid && (table.get(pid)?.startTime ?? startTime) === startTime;
  });
  const marked = findMarked(root.mark === null ? [] : [root.mark], table);
  return collectTrees([...ownNumbers([root], table), ...others.map(({ pid }) => pid), ...marked], table);
}
