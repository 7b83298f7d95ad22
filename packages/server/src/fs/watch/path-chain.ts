import { lstat, readlink } from 'node:fs/promises';
import { constants } from 'node:os';
import { OsError } from '../../os-error.js';
import { EINVAL, ELOOP, ENOENT, ENOTDIR, isOsError, unlessErrno } from '../file-error.js';
import {
  type BytePath,
  joinBytePath,
  parentOf,
  splitBytePath,
  toBytePath,
  toPathBytes,
} from './byte-path.js';
import type { DirectoryHub } from './directory-hub.js';
import type { DirectoryWatch, EntryEvent } from './directory-source.js';

const { EACCES } = constants.errno;

/** Symbolic links that one path may lead through, as in the kernel. */
const MAX_LINKS = 40;

export interface ChainListener {
  /** A component of the path changed; `isTarget` when it is what the path names. */
  onStep(event: EntryEvent, isTarget: boolean): void;
  /** A directory on the way was deleted, renamed or unmounted. */
  onLost(): void;
}

/** Whether a path, which leads through no links, is to be taken for missing. */
export type IsHidden = (path: BytePath) => boolean;

/** What a path names, without symbolic links. */
export interface ChainTarget {
  readonly path: BytePath;
  readonly isDirectory: boolean;
}

/** Why a path names nothing. */
export type ChainGap = 'missing' | 'below-file';

interface Step {
  readonly watch: DirectoryWatch;
  isTarget: boolean;
}

/**
 * A path watched over its whole length: each directory on the way is watched for the component that leads on, so that
 * nothing can take the place of what the path names unseen. It goes as far as the path leads; a component that is
 * missing is waited for.
 */
export class PathChain {
  readonly #steps: Step[] = [];
  readonly #directories = new Set<BytePath>();
  #target: ChainTarget | undefined;
  #gap: ChainGap = 'missing';
  #blind = false;
  #links = 0;
  #closed = false;

  constructor(
    private readonly hub: DirectoryHub,
    private readonly path: BytePath,
    private readonly listener: ChainListener,
    private readonly isHidden: IsHidden = () => false,
  ) {}

  /** What the path names, if anything. */
  get target(): ChainTarget | undefined {
    return this.#target;
  }

  /** Where the way ended when there is no target. */
  get gap(): ChainGap {
    return this.#gap;
  }

  /** Whether the way leads through symbolic links. */
  get hasLinks(): boolean {
    return this.#links > 0;
  }

  /** Whether a directory on the way may be searched and not read, so that what happens in it is not told. */
  get blind(): boolean {
    return this.#blind;
  }

  /** The directories on the way, without symbolic links. */
  get directories(): ReadonlySet<BytePath> {
    return this.#directories;
  }

  /** Follows the path. Each component is watched before it is looked at. Throws an `OsError`. */
  async follow(): Promise<void> {
    let directory: BytePath = '/';
    let names = splitBytePath(this.path);
    if (names.length === 0) this.#target = { path: directory, isDirectory: true };
    while (!this.#closed) {
      const name = names.shift();
      if (name === undefined) return;
      if (name === '..') {
        directory = parentOf(directory);
        if (names.length === 0) this.#target = { path: directory, isDirectory: true };
        continue;
      }
      const path = joinBytePath(directory, name);
      if (this.isHidden(path)) return;
      const isLast = names.length === 0;
      const step = this.#watchStep(directory, name, isLast);
      const found = await look(path);
      if (found === undefined) return;
      if (found.link !== undefined) {
        if (++this.#links > MAX_LINKS) throw new OsError(ELOOP, 'stat');
        if (found.link.startsWith('/')) directory = '/';
        names = [...splitBytePath(found.link), ...names];
        if (names.length === 0) this.#target = { path: directory, isDirectory: true };
      } else if (isLast) {
        if (step !== undefined) step.isTarget = true;
        this.#target = { path, isDirectory: found.isDirectory };
      } else if (found.isDirectory) {
        directory = path;
      } else {
        this.#gap = 'below-file';
        return;
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const { watch } of this.#steps) watch.close();
    this.#steps.length = 0;
  }

  #watchStep(directory: BytePath, name: BytePath, isLast: boolean): Step | undefined {
    this.#directories.add(directory);
    let step: Step | undefined;
    try {
      const watch = this.hub.watch(directory, isLast ? 'content' : 'names', {
        onEntry: (event) => {
          if (event.name === name) this.listener.onStep(event, step?.isTarget ?? false);
        },
        onLost: () => this.listener.onLost(),
      });
      step = { watch, isTarget: false };
      this.#steps.push(step);
    } catch (error) {
      if (isOsError(error, EACCES)) this.#blind = true;
      // It went away since it was looked at; the directory above tells.
      else if (!isOsError(error, ENOENT, ENOTDIR)) throw error;
    }
    return step;
  }
}

interface Found {
  readonly isDirectory: boolean;
  readonly link: BytePath | undefined;
}

async function look(path: BytePath): Promise<Found | undefined> {
  const bytes = toPathBytes(path);
  const stats = await unlessErrno(lstat(bytes), ENOENT, ENOTDIR);
  if (stats === undefined) return undefined;
  if (!stats.isSymbolicLink()) return { isDirectory: stats.isDirectory(), link: undefined };
  // What was a link when it was looked at may be gone or something else by now; its directory tells.
  const link = await unlessErrno(readlink(bytes, 'buffer'), ENOENT, ENOTDIR, EINVAL);
  return link && { isDirectory: false, link: toBytePath(link) };
}
