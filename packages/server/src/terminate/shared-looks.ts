import { platform } from 'node:process';
import { inTurn } from '../native/end-turns.js';
import {
  type ProcessEntry,
  ProcessIndex,
  readProcessTable,
  scanProc,
  type TreeMember,
} from '../native/process-tree.js';
import type { TreeMark } from '../native/tree-marks.js';
import { ownNumbers, type TreeRoot } from './kill-trees.js';

/** Processes that are looked at in one step; one costs some 20 µs. */
const ENTRIES_PER_STEP = 64;

interface Wish {
  readonly root: TreeRoot;
  readonly resolve: (members: TreeMember[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Everybody whom a look has seen. */
interface Sight {
  readonly index: ProcessIndex;
  /** Who bears a mark, by its number. */
  readonly marked: ReadonlyMap<number, readonly number[]>;
}

/**
 * Finds the members of trees by looking at every process, in turns with everything else. One look serves all who ask
 * before it begins; whoever asks while it goes on may have stopped somebody too late for it, and waits for the next.
 */
class SharedLooks {
  #wishes: Wish[] = [];
  #isLooking = false;

  /** Everybody in a tree, as of some time after the call. Rejects when nobody can be looked for. */
  find(root: TreeRoot): Promise<TreeMember[]> {
    return new Promise((resolve, reject) => {
      this.#wishes.push({ root, resolve, reject });
      if (this.#isLooking) return;
      this.#isLooking = true;
      // Those that are ended in the same turn of the loop have the same look.
      setImmediate(() => void this.#look());
    });
  }

  async #look(): Promise<void> {
    const wishes = this.#wishes;
    this.#wishes = [];
    try {
      const sight = await see(wishes.flatMap(({ root }) => root.mark ?? []));
      for (const { root, resolve, reject } of wishes) inTurn(() => findIn(sight, root)).then(resolve, reject);
    } catch (error) {
      for (const { reject } of wishes) reject(error);
    }
    this.#isLooking = this.#wishes.length > 0;
    if (this.#isLooking) setImmediate(() => void this.#look());
  }
}

export const sharedLooks = new SharedLooks();

async function see(marks: readonly TreeMark[]): Promise<Sight> {
  const table = new Map<number, ProcessEntry>();
  const marked = new Map<number, number[]>(marks.map(({ number }) => [number, []]));
  const reader = marks[0]?.marks;
  const note = (pid: number, entry: ProcessEntry) => {
    table.set(pid, entry);
    if (reader !== undefined) marked.get(reader.readAny(pid))?.push(pid);
  };
  const entries = platform === 'linux' ? scanProc() : readProcessTable().entries();
  let isOver = false;
  while (!isOver) {
    isOver = await inTurn(() => {
      for (let step = 0; step < ENTRIES_PER_STEP; step++) {
        const next = entries.next();
        if (next.done) return true;
        note(...next.value);
      }
      return false;
    });
  }
  return { index: new ProcessIndex(table), marked };
}

function findIn({ index, marked }: Sight, root: TreeRoot): TreeMember[] {
  // Children have sessions of their own. Who is in this one was started by another thread of this process, just when it
  // bore a mark itself.
  const ownSession = index.table.get(process.pid)?.sid;
  const bearers = marked.get(root.mark?.number ?? Number.NaN) ?? [];
  return index.collectTrees([
    ...ownNumbers([root], index.table),
    // Not everybody in there is a process, some are threads; the table has the processes only.
    ...(root.cgroup?.readThreads() ?? []),
    ...bearers.filter((pid) => index.table.get(pid)?.sid !== ownSession),
  ]);
}
