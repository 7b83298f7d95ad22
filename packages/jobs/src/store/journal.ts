import { constants, type FileHandle, open } from 'node:fs/promises';
import { JobError } from '../errors.js';
import type { JournalEntry } from './journal-entry.js';
import { readLines } from './read-lines.js';

/** Where a line of the journal is, in bytes. */
export interface EntryPlace {
  readonly offset: number;
  readonly length: number;
}

/** An entry with its place. */
export interface PlacedEntry extends EntryPlace {
  readonly entry: JournalEntry;
}

interface Waiting {
  readonly line: string;
  readonly resolve: (place: EntryPlace) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What happened to a job, one line of JSON each, only ever appended to. An entry counts once it is on disk; those that
 * come together share one write and one `fsync`.
 */
export class Journal implements AsyncDisposable {
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  private constructor(
    private readonly file: FileHandle,
    private length: number,
  ) {}

  /**
   * Opens or creates a journal. A last line that is not whole, of a runner that was killed while it wrote, is taken away:
   * nobody has acted on it.
   */
  static async open(path: string, onEntry: (entry: PlacedEntry) => void = () => {}): Promise<Journal> {
    const file = await open(path, 'a+', 0o600);
    try {
      let length = 0;
      for await (const placed of readEntries(file)) {
        onEntry(placed);
        length = placed.offset + placed.length;
      }
      await file.truncate(length);
      return new Journal(file, length);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Opens a journal that somebody else may be writing to. Nothing can be appended. */
  static async openForReading(path: string, onEntry: (entry: PlacedEntry) => void): Promise<Journal> {
    // Made here where it is missing: a job has one from when it is first run.
    const file = await open(path, constants.O_RDONLY | constants.O_CREAT, 0o600);
    try {
      for await (const placed of readEntries(file)) onEntry(placed);
      return new Journal(file, 0);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Resolves once the entry is on disk. Rejects for good when the disk refuses one. */
  append(entry: JournalEntry): Promise<EntryPlace> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: `${JSON.stringify(entry)}\n`, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Reads an entry again. */
  async read({ offset, length }: EntryPlace): Promise<JournalEntry> {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await this.file.read(bytes, 0, length, offset);
    return parseEntry(bytes.toString('utf8', 0, bytesRead), 0);
  }

  /** Closes it once everything is written. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flushing;
    await this.file.close();
  }

  async #flush(): Promise<void> {
    // Entries of the same turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#failure !== undefined) throw this.#failure.error;
        await this.file.appendFile(batch.map(({ line }) => line).join(''));
        await this.file.datasync();
      } catch (error) {
        // Half of a batch may be written, behind which nothing must stand.
        this.#failure ??= { error };
        for (const { reject } of batch) reject(error);
        continue;
      }
      for (const { line, resolve } of batch) {
        const length = Buffer.byteLength(line);
        resolve({ offset: this.length, length });
        this.length += length;
      }
    }
    this.#flushing = undefined;
  }
}

/** The entries of a journal that somebody else may be writing to. */
async function* readEntries(file: FileHandle): AsyncGenerator<PlacedEntry> {
  let number = 0;
  for await (const { text, offset, length, isWhole } of readLines(file)) {
    if (!isWhole) return;
    number++;
    yield { entry: parseEntry(text, number), offset, length };
  }
}

const TYPES: ReadonlySet<unknown> = new Set<JournalEntry['type']>(['job', 'start', 'end', 'exit']);

function parseEntry(text: string, number: number): JournalEntry {
  try {
    const entry = JSON.parse(text) as JournalEntry;
    if (TYPES.has(entry.type)) return entry;
  } catch {
    // Said below.
  }
  throw new JobError('corrupt', `the journal of the job is damaged: line ${number} is no entry`);
}
