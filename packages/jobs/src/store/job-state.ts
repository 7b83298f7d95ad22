import type { EntryPlace } from './journal.js';
import type {
  EndEntry,
  ExitEntry,
  ItemStatus,
  JobEntry,
  JobStatus,
  JournalEntry,
  StartEntry,
} from './journal-entry.js';

/** What is known of one item. */
export interface ItemState {
  readonly status: ItemStatus;
  /** How often a worker was started for it, or tried to. */
  readonly attempts: number;
  /** The newest start. */
  readonly start: StartEntry | undefined;
  readonly error: string | undefined;
  readonly hasResult: boolean;
  /** The entry that ended it, which has the result. */
  readonly end: EntryPlace | undefined;
  readonly reportedAt: number | undefined;
  readonly completedAt: number | undefined;
  /** Its worker is known to be gone. */
  readonly isGone: boolean;
}

/** How many items are in each state. */
export type ItemCounts = Readonly<Record<ItemStatus, number>>;

const PENDING: ItemState = {
  status: 'pending',
  attempts: 0,
  start: undefined,
  error: undefined,
  hasResult: false,
  end: undefined,
  reportedAt: undefined,
  completedAt: undefined,
  isGone: true,
};

/** States that a job can come to from each. */
const JOB_CHANGES: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  pending: ['running', 'failed', 'cancelled'],
  running: ['running', 'completed', 'failed', 'cancelled'],
  // A job that could not write its output, or lost its machines, goes on when it is resumed.
  failed: ['running'],
  cancelled: [],
  completed: [],
};

/** The state of a job and of its items. Each change names the state it starts from, and happens only from there. */
export class JobState {
  readonly items: ItemState[];
  readonly #counts = { pending: 0, running: 0, completed: 0, failed: 0 };
  #status: JobStatus = 'pending';
  #error: string | undefined;
  #startedAt: number | undefined;
  #completedAt: number | undefined;

  constructor(totalItems: number) {
    this.items = Array.from({ length: totalItems }, () => PENDING);
    this.#counts.pending = totalItems;
  }

  get status(): JobStatus {
    return this.#status;
  }

  get error(): string | undefined {
    return this.#error;
  }

  /** Unix time in milliseconds. */
  get startedAt(): number | undefined {
    return this.#startedAt;
  }

  get completedAt(): number | undefined {
    return this.#completedAt;
  }

  get counts(): ItemCounts {
    return { ...this.#counts };
  }

  /** Makes a change. Answers false, and changes nothing, where the state is not the one that it starts from. */
  apply(entry: JournalEntry, place?: EntryPlace): boolean {
    switch (entry.type) {
      case 'job':
        return this.#changeJob(entry);
      case 'start':
        return this.#start(entry);
      case 'end':
        return this.#end(entry, place);
      case 'exit':
        return this.#exit(entry);
    }
  }

  /** Tells where the entry is that ended an item, which is known only once it is written. */
  placeEnd(item: number, end: EntryPlace): void {
    const state = this.items[item];
    if (state !== undefined) this.items[item] = { ...state, end };
  }

  #changeJob({ status, error, at }: JobEntry): boolean {
    if (!JOB_CHANGES[this.#status].includes(status)) return false;
    this.#status = status;
    this.#error = error;
    if (status === 'running') this.#startedAt ??= at;
    this.#completedAt = status === 'running' ? undefined : at;
    return true;
  }

  #start(entry: StartEntry): boolean {
    const item = this.items[entry.item];
    if (item?.status !== 'pending' || entry.attempt !== item.attempts + 1) return false;
    this.#set(entry.item, {
      ...item,
      status: 'running',
      attempts: entry.attempt,
      start: entry,
      isGone: false,
    });
    return true;
  }

  #end(
    { item: index, attempt, status, error, result, reportedAt, at }: EndEntry,
    place?: EntryPlace,
  ): boolean {
    const item = this.items[index];
    if (item?.status !== 'running' || attempt !== item.attempts) return false;
    this.#set(index, {
      ...item,
      status,
      error,
      hasResult: result !== undefined,
      end: place,
      reportedAt,
      completedAt: status === 'pending' ? undefined : at,
      // Whoever reported may still be at work.
      isGone: reportedAt === undefined,
    });
    return true;
  }

  #exit({ item: index, attempt }: ExitEntry): boolean {
    const item = this.items[index];
    if (item === undefined || attempt !== item.attempts || item.isGone) return false;
    this.items[index] = { ...item, isGone: true };
    return true;
  }

  #set(index: number, state: ItemState): void {
    const before = this.items[index];
    if (before !== undefined) this.#counts[before.status]--;
    this.#counts[state.status]++;
    this.items[index] = state;
  }
}
