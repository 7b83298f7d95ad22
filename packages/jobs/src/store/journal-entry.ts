/** States of a job. */
export type JobStatus = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';

/** States of an item. */
export type ItemStatus = 'pending' | 'running' | 'completed' | 'failed';

/** What a worker reported. */
export type Result = Readonly<Record<string, unknown>>;

/** The job has come to another state. */
export interface JobEntry {
  readonly type: 'job';
  readonly status: JobStatus;
  readonly error?: string;
  /** Unix time in milliseconds. */
  readonly at: number;
}

/** A worker is about to be started for an item. Whether it ever was, only its machine knows. */
export interface StartEntry {
  readonly type: 'start';
  /** Index of the row, from 0. */
  readonly item: number;
  /** From 1. */
  readonly attempt: number;
  /** Name of the machine. */
  readonly machine: string;
  /** The session on that machine. */
  readonly session: string;
  /** Where the worker finds its files, on that machine. */
  readonly directory: string;
  readonly at: number;
}

/** An attempt is over: the item has come to its end, or waits for another one. */
export interface EndEntry {
  readonly type: 'end';
  readonly item: number;
  readonly attempt: number;
  readonly status: 'completed' | 'failed' | 'pending';
  readonly error?: string;
  readonly result?: Result;
  /** When the worker reported, where it did. */
  readonly reportedAt?: number;
  readonly at: number;
}

/** The worker of an item that was completed by its report has ended, too. */
export interface ExitEntry {
  readonly type: 'exit';
  readonly item: number;
  readonly attempt: number;
  readonly outcome: string;
  readonly at: number;
}

/** A line of the journal. */
export type JournalEntry = JobEntry | StartEntry | EndEntry | ExitEntry;
