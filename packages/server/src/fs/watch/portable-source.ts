import { lstatSync, type Stats, watch } from 'node:fs';
import { toFileError } from '../file-error.js';
import { type BytePath, joinBytePath, toBytePath, toPathBytes } from './byte-path.js';
import type { Detail, DirectoryListener, DirectorySource, DirectoryWatch } from './directory-source.js';

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

  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
  }

  watch(directory: BytePath, _detail: Detail, listener: DirectoryListener): DirectoryWatch {
    const watcher = openWatcher(directory);
    watcher.on('change', (event, name) => this.#translate(directory, event, name, listener));
    watcher.on('error', () => listener.onLost());
    const handle = {
      close: () => {
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

  #translate(
    directory: BytePath,
    event: string,
    bytes: string | Buffer | null,
    listener: DirectoryListener,
  ): void {
    this.#countBurst();
    if (bytes === null) {
      this.#onOverflow();
      return;
    }
    const name = toBytePath(Buffer.from(bytes));
    if (event === 'change') {
      listener.onEntry({ kind: 'modified', name, isDirectory: false });
      return;
    }
    // A synchronous look keeps the order: the answer to a later event must not overtake an earlier one.
    const stats = look(joinBytePath(directory, name));
    if (stats !== undefined) listener.onEntry({ kind: 'created', name, isDirectory: stats.isDirectory() });
    else if (look(directory) === undefined) listener.onLost();
    else listener.onEntry({ kind: 'removed', name, isDirectory: true });
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

function look(path: BytePath): Stats | undefined {
  try {
    return lstatSync(toPathBytes(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
