import { type Stats, watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { toFileError } from '../file-error.js';
import { type BytePath, joinBytePath, toBytePath, toPathBytes } from './byte-path.js';
import type {
  Detail,
  DirectoryListener,
  DirectorySource,
  DirectoryWatch,
  EntryEvent,
} from './directory-source.js';

/**
 * Events in one turn of the loop that count as an overflow. The platform's queue drops events without a word, so a
 * burst that comes near the smallest usual size of such a queue must be taken for one that did.
 */
const BURST_EVENTS = 4096;

/** Directories watched by `node:fs`, where there is no inotify of our own. */
export class PortableSource implements DirectorySource {
  readonly #watchers = new Set<DirectoryWatch>();
  readonly #onOverflow: () => void;
  #burst = 0;
  /** Events that wait for a look at the disk, theirs or that of one before. */
  #waiting = 0;
  #isOverflowing = false;
  #told: Promise<void> = Promise.resolve();

  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
  }

  watch(directory: BytePath, _detail: Detail, listener: DirectoryListener): DirectoryWatch {
    const watcher = openWatcher(directory);
    let isClosed = false;
    const tell = (event: string, name: Buffer) =>
      this.#inOrder(async () => {
        const news = await describe(directory, event, name);
        if (isClosed) return;
        if (news === 'lost') listener.onLost();
        else listener.onEntry(news);
      });
    watcher.on('change', (event, name) => this.#take(event, name, tell));
    watcher.on('error', () => listener.onLost());
    const handle = {
      close: () => {
        isClosed = true;
        this.#watchers.delete(handle);
        watcher.removeAllListeners('change');
        watcher.close();
      },
    };
    this.#watchers.add(handle);
    return handle;
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  #take(event: string, name: string | Buffer | null, tell: (event: string, name: Buffer) => void): void {
    this.#countBurst();
    if (name === null) this.#onOverflow();
    else if (!this.#isOverflowing && this.#waiting < BURST_EVENTS) tell(event, Buffer.from(name));
    else if (!this.#isOverflowing) {
      // It is told in the place of all that is not.
      this.#isOverflowing = true;
      this.#told = this.#told.then(() => {
        this.#isOverflowing = false;
        this.#onOverflow();
      });
    }
  }

  /** The answer to a later event must not overtake that to an earlier one. */
  #inOrder(task: () => Promise<void>): void {
    this.#waiting++;
    this.#told = this.#told.then(task).then(() => {
      this.#waiting--;
    });
  }

  #countBurst(): void {
    if (this.#burst === 0) setImmediate(() => (this.#burst = 0));
    this.#burst++;
    if (this.#burst === BURST_EVENTS) this.#onOverflow();
  }
}

function openWatcher(directory: BytePath) {
  try {
    return watch(toPathBytes(directory), { encoding: 'buffer' });
  } catch (error) {
    throw toFileError(error);
  }
}

/** What an event is about, as it is on disk now. */
async function describe(directory: BytePath, event: string, bytes: Buffer): Promise<EntryEvent | 'lost'> {
  const name = toBytePath(bytes);
  if (event === 'change') return { kind: 'modified', name, isDirectory: false };
  const stats = await look(joinBytePath(directory, name));
  if (stats !== undefined) return { kind: 'created', name, isDirectory: stats.isDirectory() };
  if ((await look(directory)) === undefined) return 'lost';
  return { kind: 'removed', name, isDirectory: true };
}

async function look(path: BytePath): Promise<Stats | undefined> {
  try {
    return await lstat(toPathBytes(path));
  } catch {
    return undefined;
  }
}
