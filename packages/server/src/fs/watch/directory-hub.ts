import type { ConnectionResource } from '../../dialects/dialect.js';
import { OsError } from '../../os-error.js';
import type { BytePath } from './byte-path.js';
import type {
  CreateDirectorySource,
  Detail,
  DirectoryListener,
  DirectorySource,
  DirectoryWatch,
} from './directory-source.js';
import { InotifySource } from './inotify-source.js';
import { PortableSource } from './portable-source.js';

/**
 * All directories that one connection watches. The source behind it exists only while something is watched: a user may
 * have no more than 128 of the kernel's queues.
 */
export class DirectoryHub implements ConnectionResource {
  readonly #overflowListeners = new Set<() => void>();
  #source: DirectorySource | undefined;
  #watches = 0;
  #closed = false;

  constructor(
    _scope?: unknown,
    private readonly createSource: CreateDirectorySource = createDirectorySource,
  ) {}

  /** Throws an `OsError`. */
  watch(directory: BytePath, detail: Detail, listener: DirectoryListener): DirectoryWatch {
    if (this.#closed) throw new Error('the connection is gone');
    this.#source ??= this.createSource(() => this.#overflow());
    const source = this.#source;
    let watch: DirectoryWatch | undefined;
    this.#watches++;
    const release = () => {
      watch?.close();
      this.#watches--;
      if (this.#watches === 0) this.#closeSource();
    };
    try {
      watch = source.watch(directory, detail, listener);
    } catch (error) {
      release();
      throw error;
    }
    return once(release);
  }

  /** Calls `listener` when events were lost, until the returned watch is closed. */
  onOverflow(listener: () => void): DirectoryWatch {
    this.#overflowListeners.add(listener);
    return { close: () => this.#overflowListeners.delete(listener) };
  }

  close(): void {
    this.#closed = true;
    this.#overflowListeners.clear();
    this.#closeSource();
  }

  #overflow(): void {
    for (const listener of this.#overflowListeners) listener();
  }

  #closeSource(): void {
    this.#source?.close();
    this.#source = undefined;
  }
}

function once(release: () => void): DirectoryWatch {
  let open = true;
  return {
    close() {
      if (!open) return;
      open = false;
      release();
    },
  };
}

/** The best source of this platform. An `OsError` of a source that exists here is not hidden by a lesser one. */
function createDirectorySource(onOverflow: () => void): DirectorySource {
  try {
    return new InotifySource(onOverflow);
  } catch (error) {
    if (error instanceof OsError) throw error;
    return new PortableSource(onOverflow);
  }
}
