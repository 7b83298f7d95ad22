import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { JobError } from '../errors.js';
import { type JobFiles, jobFiles } from './job-directory.js';
import { JobRows } from './job-rows.js';
import { type JobSettings, readJobSettings } from './job-settings.js';
import { JobState } from './job-state.js';
import { type EntryPlace, Journal } from './journal.js';
import type { EndEntry, JournalEntry } from './journal-entry.js';

/** A job on disk: what it is, its rows, and what happened to it. */
export class StoredJob implements AsyncDisposable {
  private constructor(
    readonly files: JobFiles,
    readonly settings: JobSettings,
    readonly rows: JobRows,
    readonly state: JobState,
    private readonly journal: Journal,
  ) {}

  /** Opens a job to change it, which takes its lock. */
  static open(directory: string): Promise<StoredJob> {
    return StoredJob.#open(directory, (path, onEntry) => Journal.open(path, onEntry));
  }

  /** Opens a job that somebody else may be running. */
  static openForReading(directory: string): Promise<StoredJob> {
    return StoredJob.#open(directory, (path, onEntry) => Journal.openForReading(path, onEntry));
  }

  static async #open(directory: string, openJournal: typeof Journal.openForReading): Promise<StoredJob> {
    const files = jobFiles(directory);
    const settings = await readJobSettings(files.settings);
    const state = new JobState(settings.totalItems);
    const rows = await JobRows.open(files.rows, settings.totalItems);
    try {
      const journal = await openJournal(files.journal, ({ entry, ...place }) => {
        if (!state.apply(entry, place))
          throw new JobError('corrupt', `the journal of the job contradicts itself at byte ${place.offset}`);
      });
      return new StoredJob(files, settings, rows, state, journal);
    } catch (error) {
      await rows[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Changes the state, and resolves once that is on disk. Answers false, and does nothing, where the state is not the one
   * that the change starts from.
   */
  async change(entry: JournalEntry): Promise<boolean> {
    if (!this.state.apply(entry)) return false;
    const place = await this.journal.append(entry);
    if (entry.type === 'end') this.state.placeEnd(entry.item, place);
    return true;
  }

  /** The entry that ended an item, with its result. */
  async readEnd(place: EntryPlace): Promise<EndEntry> {
    return (await this.journal.read(place)) as EndEntry;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.journal[Symbol.asyncDispose]();
    await this.rows[Symbol.asyncDispose]();
  }
}

/** Finds a job by its id, or by how that begins. Rejects with `JobError`. */
export async function findJob(root: string, id: string): Promise<string> {
  const found = (await listJobIds(root)).filter((name) => name.startsWith(id));
  const [first] = found;
  if (first === undefined || id === '') throw new JobError('not_found', `there is no job ${id} in ${root}`);
  if (found.length > 1 && !found.includes(id))
    throw new JobError('not_found', `${found.length} jobs begin with ${id}: ${found.join(', ')}`);
  return join(root, found.includes(id) ? id : first);
}

/** The names of all directories of jobs. */
export async function listJobIds(root: string): Promise<string[]> {
  try {
    return (await readdir(root)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
