import { randomInt } from 'node:crypto';
import { constants } from 'node:os';
import { OneTimeEvent } from '../one-time-event.js';
import type { Libc } from './libc.js';
import { NewProcesses } from './new-processes.js';
import type { ProcessEntry } from './process-tree.js';
import { listSystemDirectory, readSystemFile } from './system-files.js';

/** Marks of one server; the digits behind its prefix. */
const MARKS_PER_PREFIX = 100_000_000;
/** Prefixes of eight digits, with which a mark is a number that JavaScript counts exactly. */
const FIRST_PREFIX = 10_000_000;
const PREFIXES_END = 90_000_000;

/** Digits of a mark behind its prefix. */
export const MARK_DIGITS = 8;

const RLIMIT_LOCKS = 10;
const THIS_PROCESS = 0;
/** `struct rlimit64`: the soft limit, then the hard one. */
const LIMIT_BYTES = 16;
/** Processes that are asked for their marks in one turn of the loop; one costs some 30 µs where it is another user's. */
const ENTRIES_PER_TURN = 128;
/** Time in a turn of the loop for those that were started meanwhile, in milliseconds, and how many turns they get. */
const NEW_MS_PER_TURN = 4;
const NEW_TURNS = 16;

/**
 * What everything that one child starts has in common, wherever it goes: a number that the child is born with and every
 * descendant inherits. Neither a session of its own nor the loss of its parents takes it from a process.
 *
 * The number is the soft limit of file locks, which Linux keeps for every process and has not enforced since 2.4.24: it
 * needs neither a variable nor a descriptor in the child, and reading it needs neither in this process.
 */
export class TreeMark {
  readonly #gone = new OneTimeEvent();

  constructor(
    readonly marks: TreeMarks,
    readonly number: number,
  ) {}

  /** Resolves some time after the child has been reaped and nobody bears the mark. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  forget(): void {
    this.#gone.happen();
  }
}

/** Gives marks to the children of one launcher, and finds who bears them. */
export class TreeMarks {
  /** The first digits of every mark; those of another launcher are others. */
  readonly prefix = randomInt(FIRST_PREFIX, PREFIXES_END);
  readonly #libc: Libc;
  readonly #own = Buffer.alloc(LIMIT_BYTES);
  readonly #changed = Buffer.alloc(LIMIT_BYTES);
  #given = 0;

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /**
   * Runs `start`, which starts a child that bears a new mark from its first instruction on. The mark is `null` where the
   * system allows none, because somebody has lowered the hard limit.
   */
  start<Started>(start: () => Started): { started: Started; mark: TreeMark | null } {
    const mark = new TreeMark(this, this.prefix * MARKS_PER_PREFIX + (this.#given % MARKS_PER_PREFIX));
    if (!this.#setOwn(mark.number)) return { started: start(), mark: null };
    this.#given += 1;
    try {
      return { started: start(), mark };
    } finally {
      this.#libc.prlimit(THIS_PROCESS, RLIMIT_LOCKS, this.#own, null);
    }
  }

  /** The mark of a process that was started here; `undefined` for everybody else, and for who is gone or hidden. */
  read(pid: number): number | undefined {
    const limit = this.readAny(pid);
    return Math.floor(limit / MARKS_PER_PREFIX) === this.prefix ? limit : undefined;
  }

  /** What a process has where others have marks; `NaN` for who is gone or hidden. Throws when it cannot look. */
  readAny(pid: number): number {
    if (this.#libc.prlimit(pid, RLIMIT_LOCKS, null, this.#changed) === 0)
      return Number(this.#changed.readBigUInt64LE());
    // Of a process that has become another user's the call tells only who has CAP_SYS_RESOURCE; the file tells everybody.
    return this.#libc.errno() === constants.errno.EPERM ? readMarkFile(pid) : Number.NaN;
  }

  /** Every mark that somebody bears. Rejects when it cannot look, or cannot keep up with those who start others. */
  async collect(): Promise<Set<number>> {
    const found = new Set<number>();
    const note = (pid: number) => {
      const mark = this.read(pid);
      if (mark !== undefined) found.add(mark);
    };
    const newProcesses = new NewProcesses();
    let untilTurn = ENTRIES_PER_TURN;
    for (const name of listSystemDirectory('/proc') ?? []) {
      const pid = Number(name);
      if (Number.isInteger(pid)) note(pid);
      untilTurn -= 1;
      if (untilTurn > 0) continue;
      untilTurn = ENTRIES_PER_TURN;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await visitInTurns(newProcesses, note);
    return found;
  }

  #setOwn(mark: number): boolean {
    const own = this.#own;
    if (this.#libc.prlimit(THIS_PROCESS, RLIMIT_LOCKS, null, own) !== 0) return false;
    own.copy(this.#changed);
    this.#changed.writeBigUInt64LE(BigInt(mark));
    return this.#libc.prlimit(THIS_PROCESS, RLIMIT_LOCKS, this.#changed, null) === 0;
  }
}

/** Visits those who were started meanwhile, in turns with everything else. Rejects if more and more are. */
export async function visitInTurns(newProcesses: NewProcesses, visit: (pid: number) => void): Promise<void> {
  for (let turn = 0; turn < NEW_TURNS; turn++) {
    const outcome = newProcesses.visit(visit, NEW_MS_PER_TURN);
    if (outcome === 'all') return;
    if (outcome === 'lost') break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('processes are started faster than they can be looked at');
}

/** The soft limit of file locks in the file of a process. */
function readMarkFile(pid: number): number {
  const [, soft] = /^Max file locks +(\d+) /m.exec(readSystemFile(`/proc/${pid}/limits`) ?? '') ?? [];
  return soft === undefined ? Number.NaN : Number(soft);
}

/** Who in a process table bears one of the marks. */
export function findMarked(marks: readonly TreeMark[], table: ReadonlyMap<number, ProcessEntry>): number[] {
  const [first] = marks;
  if (first === undefined) return [];
  const wanted = new Set(marks.map(({ number }) => number));
  // Children have sessions of their own. Who is in this one was started by another thread of this process, just when it
  // bore a mark itself.
  const ownSession = table.get(process.pid)?.sid;
  const found: number[] = [];
  for (const [pid, { sid }] of table) {
    if (sid !== ownSession && wanted.has(first.marks.readAny(pid))) found.push(pid);
  }
  return found;
}
