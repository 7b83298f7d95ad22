import type { BytePath } from './byte-path.js';

/** Something happened to a name in a watched directory. */
export interface EntryEvent {
  /**
   * `created`: something new has the name, also when it took the name over. `closed`: a file that was open for writing
   * was closed, which is all that shows of a write through a memory map.
   */
  readonly kind: 'created' | 'removed' | 'modified' | 'attributes' | 'closed';
  readonly name: BytePath;
  /** Whether it is, or may have been, a directory. */
  readonly isDirectory: boolean;
}

export interface DirectoryListener {
  onEntry(event: EntryEvent): void;
  /** The directory itself was deleted, renamed or unmounted: what its path names now is not known. */
  onLost(): void;
}

/** How much is told: `names` is who comes and goes and changes attributes, `content` also what is written. */
export type Detail = 'names' | 'content';

export interface DirectoryWatch {
  close(): void;
}

/** Tells what happens in directories. One that is watched is watched when `watch` returns. */
export interface DirectorySource {
  /** Throws an `OsError`: ENOSPC when the system's watches are used up. */
  watch(directory: BytePath, detail: Detail, listener: DirectoryListener): DirectoryWatch;
  close(): void;
}

/** Makes a source; `onOverflow` is called when events of any of its directories were lost. */
export type CreateDirectorySource = (onOverflow: () => void) => DirectorySource;
