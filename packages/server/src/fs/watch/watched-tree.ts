import { opendir } from 'node:fs/promises';
import { constants } from 'node:os';
import { callSystem, ELOOP, ENOENT, ENOTDIR, EPERM, isOsError } from '../file-error.js';
import { type BytePath, joinBytePath, toBytePath, toPathBytes } from './byte-path.js';
import type { DirectoryHub } from './directory-hub.js';
import type { DirectoryWatch, EntryEvent } from './directory-source.js';
import type { IsHidden } from './path-chain.js';

const { EACCES } = constants.errno;

/** Directories that went away meanwhile, or that nobody here may read: there is nothing to tell about them. */
const PASSED_OVER = [EACCES, EPERM, ENOENT, ENOTDIR, ELOOP];

/** Entries that one read of a directory fetches. */
const LIST_BUFFER_ENTRIES = 256;

export interface TreeOptions {
  readonly hub: DirectoryHub;
  /** The directory at the top, without symbolic links. */
  readonly root: BytePath;
  /** Whether directories below are watched as well. Symbolic links in the tree are never followed. */
  readonly recursive: boolean;
  /** @default nothing is */
  readonly isHidden?: IsHidden | undefined;
  /** Most directories to watch. */
  readonly maxDirectories: number;
  /** `path` is relative to the root. */
  onChange(path: BytePath, kind: 'created' | 'modified' | 'removed', isDirectory: boolean): void;
  /** A part of the tree cannot be watched or read. */
  onTrouble(error: unknown): void;
  /** The root itself was deleted, renamed or unmounted. */
  onLost(): void;
}

/** A tree has more directories than may be watched. */
export class TooManyDirectoriesError extends Error {
  override readonly name = 'TooManyDirectoriesError';
}

interface Directory {
  readonly path: BytePath;
  readonly watch: DirectoryWatch;
  readonly children: Map<BytePath, Directory>;
  /** Names that came or went since the watch was set, until it is listed: what the listing says of them is older. */
  told: Set<BytePath> | undefined;
  dropped: boolean;
}

/** A directory, and if asked for all directories below it, each with a watch of its own. */
export class WatchedTree {
  readonly #options: TreeOptions;
  #root: Directory | undefined;
  #directories = 0;

  constructor(options: TreeOptions) {
    this.#options = options;
  }

  /**
   * Watches everything that is there. With `report`, what is found is reported as created. Throws an `OsError` when the
   * root cannot be watched.
   */
  async arm(report: boolean): Promise<void> {
    this.#root = this.#watch('', () => this.#options.onLost());
    if (report || this.#options.recursive) await this.#descend([this.#root], report);
    else this.#root.told = undefined;
  }

  close(): void {
    if (this.#root !== undefined) this.#drop(this.#root);
  }

  #onEntry(directory: Directory, { kind, name, isDirectory }: EntryEvent): void {
    const path = joinBytePath(directory.path, name);
    if (this.#isHidden(path)) return;
    const known = directory.children.get(name);
    const isUnwatched = this.#options.recursive && isDirectory && known === undefined;
    // Whoever may list it now finds things that could not be told of before.
    const mayBeReadable = kind === 'attributes' && isUnwatched;
    if (kind !== 'created' && kind !== 'removed' && !mayBeReadable) {
      this.#options.onChange(path, 'modified', isDirectory);
      return;
    }
    directory.told?.add(name);
    directory.children.delete(name);
    if (known !== undefined) this.#drop(known);
    const isRemoved = kind === 'removed';
    this.#options.onChange(path, isRemoved ? 'removed' : 'created', isDirectory || known !== undefined);
    if (isDirectory && !isRemoved) this.#enter(directory, name);
  }

  #enter(parent: Directory, name: BytePath): void {
    if (!this.#options.recursive) return;
    const directory = this.#watchChild(parent, name);
    if (directory !== undefined) void this.#descend([directory], true);
  }

  /** Lists directories that are watched already: whatever comes into being from then on is told by their watches. */
  async #descend(directories: Directory[], report: boolean): Promise<void> {
    for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
      if (next.dropped) continue;
      try {
        await callSystem(this.#list(next, directories, report));
      } catch (error) {
        if (!isOsError(error, ...PASSED_OVER)) this.#options.onTrouble(error);
      }
      next.told = undefined;
    }
  }

  async #list(directory: Directory, found: Directory[], report: boolean): Promise<void> {
    const path = toPathBytes(joinBytePath(this.#options.root, directory.path));
    // The types know names as text only; with this encoding they are bytes.
    const options = { encoding: 'buffer' as BufferEncoding, bufferSize: LIST_BUFFER_ENTRIES };
    const listing = await opendir(path as unknown as string, options);
    for await (const entry of listing) {
      if (directory.dropped) return;
      const name = toBytePath(entry.name as unknown as Buffer);
      if (directory.told?.has(name) || this.#isHidden(joinBytePath(directory.path, name))) continue;
      if (report) this.#options.onChange(joinBytePath(directory.path, name), 'created', entry.isDirectory());
      if (!this.#options.recursive || !entry.isDirectory()) continue;
      const child = this.#watchChild(directory, name);
      if (child !== undefined) found.push(child);
    }
  }

  #isHidden(path: BytePath): boolean {
    return this.#options.isHidden?.(joinBytePath(this.#options.root, path)) ?? false;
  }

  /** Watches a directory unless it is watched already. */
  #watchChild(parent: Directory, name: BytePath): Directory | undefined {
    if (parent.dropped || parent.children.has(name)) return undefined;
    try {
      const child = this.#watch(joinBytePath(parent.path, name), () => {});
      parent.children.set(name, child);
      return child;
    } catch (error) {
      if (!isOsError(error, ...PASSED_OVER)) this.#options.onTrouble(error);
      return undefined;
    }
  }

  #watch(path: BytePath, onLost: () => void): Directory {
    if (this.#directories >= this.#options.maxDirectories) throw new TooManyDirectoriesError();
    const watch = this.#options.hub.watch(joinBytePath(this.#options.root, path), 'content', {
      onEntry: (event) => this.#onEntry(directory, event),
      onLost,
    });
    const directory: Directory = {
      path,
      watch,
      children: new Map(),
      told: new Set(),
      dropped: false,
    };
    this.#directories++;
    return directory;
  }

  #drop(top: Directory): void {
    const directories = [top];
    for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
      next.dropped = true;
      next.watch.close();
      this.#directories--;
      for (const child of next.children.values()) directories.push(child);
    }
  }
}
