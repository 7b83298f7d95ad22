import { readSystemFile, readSystemLine } from './system-files.js';

/** Longest line of /proc/loadavg that is read, in bytes. */
const MAX_LINE_BYTES = 128;
const lineBuffer = Buffer.alloc(MAX_LINE_BYTES);

/** What the kernel begins with again when it has given all numbers. */
const FIRST_NUMBER_AGAIN = 300;

/** Numbers that are tried one by one; where more have been given, a look at everybody costs less. */
const MAX_NUMBERS = 32_768;

/** Numbers that were given in a row: those above `low`, up to `high`. */
interface NumberRange {
  readonly low: number;
  readonly high: number;
}

/**
 * What came of a visit to new processes: `all` of them have been visited; time was over, and there are `more`; or some are
 * `lost`, because more numbers were given than can be tried, and only a look at everybody finds them.
 */
export type VisitOutcome = 'all' | 'more' | 'lost';

/** What the system tells of the numbers of processes. */
export interface NumberSource {
  /** The number that was given to a process last; nothing where that is not told. */
  readLast(): number | undefined;
  /** What all numbers are below. */
  readLimit(): number;
}

const PROC: NumberSource = {
  readLast() {
    const line = readSystemLine('/proc/loadavg', lineBuffer)?.trimEnd() ?? '';
    const last = Number(line.slice(line.lastIndexOf(' ') + 1));
    return Number.isInteger(last) && last > 0 ? last : undefined;
  },
  readLimit: () => Number(readSystemFile('/proc/sys/kernel/pid_max') ?? 0),
};

/**
 * Tells which processes have been started since. A look at every process misses one that goes on under another number all
 * the time: it starts a child and ends before its turn has come, and the child is not in the list. The child's number is
 * among those that were given meanwhile, so that who has seen a list, and then all these until no more are given, has
 * missed nobody. Knows of nobody new where the system does not tell which number it gave last.
 */
export class NewProcesses {
  readonly #source: NumberSource;
  #last: number | undefined;
  /** What is still to be visited, the newest last. */
  readonly #ranges: NumberRange[] = [];

  constructor(source: NumberSource = PROC) {
    this.#source = source;
    this.#last = source.readLast();
  }

  /**
   * Calls `visit` for the number of each process that was started since, the newest first, also for those that have ended
   * again, for some `budgetMs` milliseconds.
   */
  visit(visit: (pid: number) => void, budgetMs: number): VisitOutcome {
    const end = performance.now() + budgetMs;
    for (;;) {
      if (!this.#noteNew()) return 'lost';
      const range = this.#ranges.pop();
      if (range === undefined) return 'all';
      for (let pid = range.high; pid > range.low; pid--) {
        visit(pid);
        if (performance.now() < end) continue;
        this.#ranges.push({ low: range.low, high: pid - 1 });
        return 'more';
      }
    }
  }

  /** False when more numbers were given than can be tried. */
  #noteNew(): boolean {
    const before = this.#last;
    const last = this.#source.readLast();
    this.#last = last;
    if (before === undefined || last === undefined || last === before) return true;
    const ranges =
      last > before
        ? [{ low: before, high: last }]
        : [
            { low: before, high: this.#source.readLimit() - 1 },
            { low: FIRST_NUMBER_AGAIN - 1, high: last },
          ];
    if (ranges.some(({ low, high }) => high - low > MAX_NUMBERS)) return false;
    this.#ranges.push(...ranges);
    return true;
  }
}
