import { constants } from 'node:os';
import type { Clock, ClockTimer } from '../../clock.js';
import { OsError } from '../../os-error.js';
import { ENOENT, ENOTDIR, isOsError } from '../file-error.js';
import { type BytePath, joinBytePath } from './byte-path.js';
import type { ChangeQueue } from './change-queue.js';
import type { DirectoryHub } from './directory-hub.js';
import type { DirectoryWatch, EntryEvent } from './directory-source.js';
import { type ChainListener, type IsHidden, PathChain } from './path-chain.js';
import { WatchedTree } from './watched-tree.js';

const { EACCES } = constants.errno;

/** How long a watch that is not whole waits before it looks again, in milliseconds. */
export const RETRY_MS = 5_000;

export interface PathWatchOptions {
  readonly hub: DirectoryHub;
  readonly clock: Clock;
  readonly queue: ChangeQueue;
  /** What to watch, as the client spells it; changes are reported with this prefix. */
  readonly path: BytePath;
  readonly recursive: boolean;
  /** Wait for a path that does not exist, instead of refusing it. @default false */
  readonly mayBeMissing?: boolean | undefined;
  readonly maxDirectories: number;
  /** @default nothing is */
  readonly isHidden?: IsHidden | undefined;
}

/** What a rebuilt watch reports: what it finds there, or that anything may have happened. */
type Report = 'changes' | 'overflow';

/**
 * One watched path: the way to it and, if it is a directory, what is in it. Whenever something else may be at the path,
 * or events were lost, the whole watch is set up anew. While a part of it cannot be watched it looks again and again and
 * reports an overflow each time: it may be late, it is never silent.
 */
export class PathWatch {
  readonly #options: PathWatchOptions;
  readonly #overflow: DirectoryWatch;
  #chain: PathChain | undefined;
  #tree: WatchedTree | undefined;
  #isPresent = false;
  /** Set once `start` has resolved; what happens before is not reported. */
  #isArmed = false;
  #trouble: { readonly error: unknown } | undefined;
  #wanted: Report | undefined;
  #rebuilding = false;
  #retry: ClockTimer | undefined;
  #closed = false;

  constructor(options: PathWatchOptions) {
    this.#options = options;
    this.#overflow = options.hub.onOverflow(() => this.#rebuildSoon('overflow'));
  }

  /** Resolves when everything is watched. Throws an `OsError`, or what kept it from being whole. */
  async start(): Promise<void> {
    this.#rebuilding = true;
    do {
      this.#wanted = undefined;
      await this.#setUp(false);
    } while (this.#wanted !== undefined && !this.#closed);
    this.#rebuilding = false;
    if (this.#closed) return;
    if (this.#trouble !== undefined) throw this.#trouble.error;
    if (!this.#isPresent && !this.#options.mayBeMissing)
      throw new OsError(this.#chain?.gap === 'below-file' ? ENOTDIR : ENOENT, 'stat');
    // A file is watched by its directory alone, and that one tells us nothing.
    if (this.#chain?.blind && this.#tree === undefined) throw new OsError(EACCES, 'watch');
    this.#isArmed = true;
  }

  close(): void {
    this.#closed = true;
    this.#overflow.close();
    this.#retry?.cancel();
    this.#tearDown();
  }

  #rebuildSoon(report: Report): void {
    this.#wanted = this.#wanted === 'overflow' ? 'overflow' : report;
    if (!this.#rebuilding) void this.#rebuild();
  }

  async #rebuild(): Promise<void> {
    this.#rebuilding = true;
    while (this.#wanted !== undefined && !this.#closed) {
      const report = this.#wanted;
      this.#wanted = undefined;
      this.#retry?.cancel();
      const wasPresent = this.#isPresent;
      try {
        await this.#setUp(report === 'changes');
      } catch (error) {
        this.#trouble = { error };
      }
      if (this.#closed) break;
      const { queue, path } = this.#options;
      const isBlind = !this.#isPresent && this.#chain?.blind === true;
      if (this.#trouble !== undefined || isBlind) this.#lookAgainLater();
      // Only now: who looks after an overflow must be told of all that follows.
      if (report === 'overflow' || this.#trouble !== undefined) queue.overflow();
      else if (wasPresent && !this.#isPresent) queue.add(path, 'removed', true);
    }
    this.#rebuilding = false;
  }

  async #setUp(report: boolean): Promise<void> {
    this.#tearDown();
    this.#trouble = undefined;
    this.#isPresent = false;
    const { hub, path, queue, isHidden } = this.#options;
    const listener: ChainListener = {
      onStep: (event, isTarget) => this.#onStep(event, isTarget),
      onLost: () => this.#rebuildSoon('changes'),
    };
    const chain = new PathChain(hub, path, listener, isHidden);
    this.#chain = chain;
    await chain.follow();
    if (chain.target === undefined || this.#closed) return;
    this.#isPresent = true;
    if (report) queue.add(path, 'created', true);
    if (chain.target.isDirectory) await this.#growTree(chain.target.path, report);
  }

  async #growTree(root: BytePath, report: boolean): Promise<void> {
    const { hub, path, queue, recursive, maxDirectories, isHidden } = this.#options;
    const tree = new WatchedTree({
      hub,
      root,
      recursive,
      maxDirectories,
      isHidden,
      onChange: (below, kind, isDirectory) => {
        if (report || this.#isArmed) queue.add(joinBytePath(path, below), kind, isDirectory);
      },
      onTrouble: (error) => this.#onTrouble(error),
      onLost: () => this.#rebuildSoon('changes'),
    });
    this.#tree = tree;
    try {
      await tree.arm(report);
    } catch (error) {
      if (!isOsError(error, ENOENT, ENOTDIR)) throw error;
      // It went away since the chain saw it.
      this.#isPresent = false;
      if (report) queue.add(path, 'removed', true);
    }
  }

  #onStep({ kind }: EntryEvent, isTarget: boolean): void {
    if (kind === 'created' || kind === 'removed') this.#rebuildSoon('changes');
    else if (isTarget && this.#isArmed) this.#options.queue.add(this.#options.path, 'modified', false);
  }

  #onTrouble(error: unknown): void {
    this.#trouble ??= { error };
    if (this.#rebuilding) return;
    this.#options.queue.overflow();
    this.#lookAgainLater();
  }

  #lookAgainLater(): void {
    this.#retry?.cancel();
    this.#retry = this.#options.clock.after(RETRY_MS, () => this.#rebuildSoon('overflow'));
  }

  #tearDown(): void {
    this.#tree?.close();
    this.#tree = undefined;
    this.#chain?.close();
    this.#chain = undefined;
  }
}
