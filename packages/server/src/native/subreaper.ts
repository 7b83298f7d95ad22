import { checkResult, type Libc } from './libc.js';
import { type ProcessEntry, readProcessTable, readVisibleProcess, type TreeMember } from './process-tree.js';
import { reaper } from './reaper.js';
import { readSystemFile } from './system-files.js';
import type { TreeMarks } from './tree-marks.js';

const PR_SET_CHILD_SUBREAPER = 36;
/** Parents of a process that are asked whose children they are. */
const MAX_GENERATIONS = 16;
/** `USER_HZ`, in which the kernel tells programs when a process started, whatever it counts in itself. */
const TICKS_PER_SECOND = 100;

/**
 * Makes processes that lose their parents children of this one instead of the system's first process, so that what its
 * children leave stays below it, and is reaped by it. It belongs to the process as a whole: all launchers share it.
 */
class Subreaper {
  #holders = 0;
  /** When it began, in ticks of the clock since boot; children that were there before are none of ours. */
  #since = 0;

  /** Until the returned function is called. Throws `OsError` where the system cannot. */
  become(libc: Libc, marks: TreeMarks): () => void {
    if (this.#holders === 0) {
      this.#since = readUptimeTicks();
      setSubreaper(libc, true);
    }
    this.#holders += 1;
    const stopReaping = reaper.takeOrphans(libc, marks);
    let holding = true;
    return () => {
      if (!holding) return;
      holding = false;
      this.#holders -= 1;
      stopReaping();
      if (this.#holders === 0) setSubreaper(libc, false);
    };
  }

  /**
   * Those that became children of this process by losing their parents, and that nothing connects with the child that
   * they came from. Nobody while others share the role, whose they might be. Throws when it cannot look.
   */
  findUnclaimed(marks: TreeMarks): TreeMember[] {
    if (this.#holders !== 1) return [];
    const table = readProcessTable();
    const ownSession = table.get(process.pid)?.sid;
    return [...table].flatMap(([pid, entry]) =>
      this.#isUnclaimedChild(pid, entry, marks, ownSession) ? [{ pid, startTime: entry.startTime }] : [],
    );
  }

  /** Whether a process is one of them, or descends from one. Throws when it cannot look. */
  isUnclaimed(pid: number, marks: TreeMarks): boolean {
    if (this.#holders !== 1) return false;
    const ownSession = readVisibleProcess(process.pid)?.sid;
    let ancestor = pid;
    for (let generation = 0; generation < MAX_GENERATIONS; generation++) {
      const entry = readVisibleProcess(ancestor);
      // Who has just lost his parent has another one now.
      if (entry === null && ancestor !== pid) ancestor = pid;
      else if (entry === null || entry.ppid <= 1) return false;
      else if (entry.ppid === process.pid) return this.#isUnclaimedChild(ancestor, entry, marks, ownSession);
      else ancestor = entry.ppid;
    }
    return false;
  }

  #isUnclaimedChild(
    pid: number,
    { ppid, sid, startTime }: ProcessEntry,
    marks: TreeMarks,
    ownSession: number | undefined,
  ): boolean {
    const isChild = ppid === process.pid && sid !== ownSession && startTime >= this.#since;
    return isChild && !reaper.knows(pid) && marks.read(pid) === undefined;
  }
}

function readUptimeTicks(): number {
  const [seconds = '0'] = (readSystemFile('/proc/uptime') ?? '').split(' ');
  return Math.floor(Number(seconds) * TICKS_PER_SECOND);
}

function setSubreaper(libc: Libc, on: boolean): void {
  checkResult(libc, libc.prctl(PR_SET_CHILD_SUBREAPER, on ? 1 : 0), 'prctl');
}

export const subreaper = new Subreaper();
