import { constants } from 'node:os';
import type { Clock } from '../../clock.js';
import type { ConnectionResource, ConnectionScope } from '../../dialects/dialect.js';
import { FileError, isOsError } from '../file-error.js';
import { toBytePath } from './byte-path.js';
import { ChangeQueue, type ChangeQueueOptions, type FileChange } from './change-queue.js';
import { DirectoryHub } from './directory-hub.js';
import { reportsChanges } from './file-systems.js';
import type { IsHidden } from './path-chain.js';
import { PathWatch } from './path-watch.js';
import { TooManyDirectoriesError } from './watched-tree.js';

const { ENOSPC } = constants.errno;

export interface WatchLimits {
  /** Watches that one connection may have. */
  readonly fileWatches: number;
  /** Directories that one watch may cover. */
  readonly watchedDirectories: number;
  /** Changed paths of one watch that may wait to be sent. */
  readonly pendingFileChanges: number;
}

export interface WatchRequest extends Pick<ChangeQueueOptions, 'gatherMs' | 'keepsBelow'> {
  readonly id: string;
  /** Absolute native path. */
  readonly path: Uint8Array;
  readonly recursive: boolean;
  /** Wait for a path that does not exist, instead of refusing it. @default false */
  readonly mayBeMissing?: boolean | undefined;
  /** What is not there for whoever watches. @default nothing */
  readonly isHidden?: IsHidden | undefined;
  readonly clock: Clock;
  readonly limits: WatchLimits;
  /** Called with what changed, never before the watch is set, never after it is removed. */
  readonly onChanged: (changes: readonly FileChange[]) => void;
}

interface Slot {
  readonly queue: ChangeQueue;
  readonly watch: PathWatch;
}

/** The watches of one connection. */
export class FileWatches implements ConnectionResource {
  readonly #connection: ConnectionScope;
  readonly #slots = new Map<string, Slot>();

  constructor(connection: ConnectionScope) {
    this.#connection = connection;
  }

  /** Resolves when the watch is set. Throws a {@link FileError} or an `OsError`; nothing is watched then. */
  async add(request: WatchRequest): Promise<void> {
    this.#checkId(request);
    const slot = this.#createSlot(request);
    this.#slots.set(request.id, slot);
    try {
      // What is hidden is not looked at, so that the watch itself comes first where something is.
      if (request.isHidden === undefined) await checkFileSystem(request);
      await slot.watch.start();
      if (request.isHidden !== undefined) await checkFileSystem(request);
    } catch (error) {
      if (this.#slots.get(request.id) === slot) this.remove(request.id);
      throw explain(error, request.limits);
    }
  }

  has(id: string): boolean {
    return this.#slots.has(id);
  }

  /** Ends a watch. An unknown one is fine. */
  remove(id: string): void {
    const slot = this.#slots.get(id);
    this.#slots.delete(id);
    slot?.watch.close();
    slot?.queue.close();
  }

  close(): void {
    for (const id of this.#slots.keys()) this.remove(id);
  }

  #checkId({ id, limits }: WatchRequest): void {
    if (this.has(id)) throw new FileError('id-taken', `watch \`${id}\` already exists`);
    if (this.#slots.size >= limits.fileWatches)
      throw new FileError('over-limit', `at most ${limits.fileWatches} watches may be set per connection`);
  }

  #createSlot(request: WatchRequest): Slot {
    const { recursive, mayBeMissing, isHidden, clock, limits, gatherMs, keepsBelow, onChanged } = request;
    const path = toBytePath(request.path);
    const queue = new ChangeQueue({
      root: path,
      limit: limits.pendingFileChanges,
      clock,
      gatherMs,
      keepsBelow,
      connection: this.#connection,
      send: onChanged,
    });
    const watch = new PathWatch({
      hub: this.#connection.keep(DirectoryHub),
      clock,
      queue,
      path,
      recursive,
      mayBeMissing,
      isHidden,
      maxDirectories: limits.watchedDirectories,
    });
    return { queue, watch };
  }
}

async function checkFileSystem({ path, mayBeMissing }: WatchRequest): Promise<void> {
  if (!(await reportsChanges(path, { mayBeMissing })))
    throw new FileError('refused', 'this file system does not tell of its changes');
}

function explain(error: unknown, limits: WatchLimits): unknown {
  if (error instanceof TooManyDirectoriesError)
    return new FileError('over-limit', `at most ${limits.watchedDirectories} directories may be watched`);
  // The kernel's words speak of a full disk.
  if (isOsError(error, ENOSPC))
    return new FileError('over-limit', "the system's limit on file watches is reached");
  return error;
}
