import { isUtf8 } from 'node:buffer';
import { lstat, realpath, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { MAX_WALK_DEPTH, MAX_WALK_DIRECTORIES, MAX_WALK_ENTRIES } from '@exec-server/protocol';
import { OsError, osErrorText } from '../os-error.js';
import { childUri } from './child-uri.js';
import { callSystem, ENOENT, FileError } from './file-error.js';
import { joinPath } from './native-path.js';
import { type DirectoryEntry, describeEntries } from './read-directory.js';
import { WalkOutcome } from './walk-outcome.js';

/** Names handled between two turns of the event loop. */
const NAMES_PER_TURN = 1024;

const DOT = 0x2e;

export interface WalkOptions {
  /** Levels below the root, at most 64; 0 lists only its children. */
  readonly maxDepth: number;
  /** Directories to enter, the root included, 1 to 10,000. */
  readonly maxDirectories: number;
  /** Names to examine, 1 to 50,000. Links that lead nowhere do not count. */
  readonly maxEntries: number;
  /** List directories behind symbolic links, and enter them. */
  readonly followDirectorySymlinks: boolean;
  /** List directories whose name starts with a dot without entering them. */
  readonly pruneHiddenDirectories: boolean;
  readonly signal: AbortSignal;
}

/** A directory under the two names it has: for the system and for the client. */
export interface WalkedDirectory {
  readonly path: Buffer;
  readonly uri: string;
}

/**
 * Lists the tree below a directory, breadth first, names sorted by bytes inside each directory. A root that is no
 * directory has nothing below it.
 */
export async function walkTree(root: WalkedDirectory, options: WalkOptions): Promise<WalkOutcome> {
  checkLimits(options);
  const target = await callSystem(stat(root.path));
  const isLink = (await callSystem(lstat(root.path))).isSymbolicLink();
  const walk = new Walk(options);
  if (target.isDirectory() && (!isLink || options.followDirectorySymlinks)) await walk.run(root);
  return walk.outcome;
}

function checkLimits({ maxDepth, maxDirectories, maxEntries }: WalkOptions): void {
  if (maxDirectories === 0 || maxEntries === 0)
    throw new FileError('refused', 'filesystem walk limits must be greater than zero');
  if (maxDepth > MAX_WALK_DEPTH || maxDirectories > MAX_WALK_DIRECTORIES || maxEntries > MAX_WALK_ENTRIES) {
    const maximums = `depth=${MAX_WALK_DEPTH}, directories=${MAX_WALK_DIRECTORIES}, entries=${MAX_WALK_ENTRIES}`;
    throw new FileError('refused', `filesystem walk limits exceed maximums: ${maximums}`);
  }
}

class Walk {
  readonly outcome = new WalkOutcome();
  /** Real paths of the directories that were or will be entered. Only links make two ways to one directory. */
  readonly #claimed = new Set<string>();
  /** Directories to enter, by level. */
  readonly #levels: WalkedDirectory[][] = [[]];
  #directories = 0;
  #examined = 0;

  constructor(private readonly options: WalkOptions) {}

  async run(root: WalkedDirectory): Promise<void> {
    await this.#enqueue(root, 0);
    for (let depth = 0; depth < this.#levels.length; depth++) {
      for (const directory of this.#levels[depth] ?? []) {
        if (!(await this.#list(directory, depth))) return;
      }
    }
  }

  /** False when the walk is over. */
  async #list(directory: WalkedDirectory, depth: number): Promise<boolean> {
    let entries: DirectoryEntry[];
    try {
      entries = await this.#readSorted(directory.path);
    } catch (error) {
      if (!(error instanceof OsError)) throw error;
      return this.outcome.addError(directory.uri, error.message);
    }
    for (const entry of entries) {
      if (this.#examined === this.options.maxEntries) return this.outcome.truncate();
      if (++this.#examined % NAMES_PER_TURN === 0) await this.#yield();
      if (!(await this.#examine(directory, entry, depth))) return false;
    }
    return true;
  }

  /** The entries of a directory that may still be examined, and one more if there is one. */
  async #readSorted(path: Buffer): Promise<DirectoryEntry[]> {
    const { maxEntries, signal } = this.options;
    const wanted = maxEntries - this.#examined + 1;
    const entries: DirectoryEntry[] = [];
    for await (const entry of describeEntries(path, { includeBroken: false, signal })) {
      // However many names there are, no more than twice those that count are held.
      if (entries.push(entry) === 2 * wanted) entries.sort(byName).splice(wanted);
    }
    return entries.sort(byName).slice(0, wanted);
  }

  /** False when the walk is over. */
  async #examine(parent: WalkedDirectory, entry: DirectoryEntry, depth: number): Promise<boolean> {
    const { followDirectorySymlinks, pruneHiddenDirectories, maxDepth } = this.options;
    const uri = childUri(parent, entry.name);
    // The listing that a client has spells such a name in a way that nothing is found by.
    if (!isUtf8(entry.name)) return this.outcome.addError(uri, osErrorText(ENOENT));
    if (entry.isSymlink && !(entry.isDirectory && followDirectorySymlinks)) return true;
    if (!entry.isDirectory) return !entry.isFile || this.outcome.addEntry(uri, 'file');
    if (!this.outcome.addEntry(uri, 'directory')) return false;
    const isPruned = pruneHiddenDirectories && entry.name[0] === DOT;
    if (depth === maxDepth || isPruned) return true;
    return this.#enqueue({ path: joinPath(parent.path, entry.name), uri }, depth + 1);
  }

  /** False when the walk is over. */
  async #enqueue(directory: WalkedDirectory, depth: number): Promise<boolean> {
    try {
      if (this.options.followDirectorySymlinks && !(await this.#claim(directory.path))) return true;
    } catch (error) {
      if (!(error instanceof OsError)) throw error;
      return this.outcome.addError(directory.uri, error.message);
    }
    if (this.#directories === this.options.maxDirectories) {
      this.outcome.truncate();
      return true;
    }
    this.#directories++;
    this.#levels[depth] ??= [];
    this.#levels[depth].push(directory);
    return true;
  }

  /** False when the directory is reached another way. */
  async #claim(path: Buffer): Promise<boolean> {
    const realPath = (await callSystem(realpath(path, { encoding: 'buffer' }))).toString('latin1');
    if (this.#claimed.has(realPath)) return false;
    this.#claimed.add(realPath);
    return true;
  }

  async #yield(): Promise<void> {
    await setImmediate();
    this.options.signal.throwIfAborted();
  }
}

function byName(a: DirectoryEntry, b: DirectoryEntry): number {
  return Buffer.compare(a.name, b.name);
}
