import { constants } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { OsError } from '../os-error.js';
import { callSystem, EINVAL, ENOENT, FileError } from './file-error.js';
import { joinPath } from './native-path.js';

// Linux values that `node:fs` does not export; the same on every architecture of Linux that Node runs on.
const O_PATH = 0o10000000;
const PROC_SUPER_MAGIC = 0x9fa0;

/** Enough to go through a directory and to name what is in it; reading it needs no more than search permission. */
const DIRECTORY_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const DESCRIPTORS = '/proc/self/fd';
const ROOT = Buffer.from('/');

/**
 * A directory that stays the same one whatever is renamed or replaced on the way to it: a descriptor, and paths that
 * start at that descriptor. `/proc/self/fd/<n>/name` is to the kernel what `openat(n, "name")` is, with the
 * difference that every call of `node:fs` takes it, and so runs on the thread pool and not on the event loop.
 */
export class PinnedDirectory {
  readonly #handle: FileHandle;
  /** Names this directory for as long as it is open. */
  readonly path: Buffer;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
    this.path = Buffer.from(`${DESCRIPTORS}/${handle.fd}`);
  }

  /** Pins `/`. Throws a {@link FileError} where the system has no descriptors to start paths at. */
  static async openRoot(): Promise<PinnedDirectory> {
    await requireDescriptorPaths();
    return PinnedDirectory.#open(ROOT);
  }

  static async #open(path: Uint8Array): Promise<PinnedDirectory> {
    return new PinnedDirectory(await callSystem(open(Buffer.from(path), DIRECTORY_FLAGS)));
  }

  /** Path of an entry, valid while this directory is open. A NUL in the name is EINVAL. */
  entry(name: Uint8Array): Buffer {
    if (name.includes(0)) throw new OsError(EINVAL, 'open');
    return joinPath(this.path, name);
  }

  /** Pins a directory in this one. A symbolic link is ENOTDIR, whatever it leads to. */
  openChild(name: Uint8Array): Promise<PinnedDirectory> {
    return PinnedDirectory.#open(this.entry(name));
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Runs `operate` in the directory that `names` lead to from `/`, with no symbolic link on the way. */
export async function withDirectory<T>(
  names: readonly Uint8Array[],
  operate: (directory: PinnedDirectory) => Promise<T>,
): Promise<T> {
  let directory = await PinnedDirectory.openRoot();
  try {
    for (const name of names) directory = await stepInto(directory, (parent) => parent.openChild(name));
    return await operate(directory);
  } finally {
    await directory.close();
  }
}

/** Goes from a directory to another one. The first is closed, unless there is no second. */
export async function stepInto(
  directory: PinnedDirectory,
  openNext: (directory: PinnedDirectory) => Promise<PinnedDirectory>,
): Promise<PinnedDirectory> {
  const next = await openNext(directory);
  await directory.close();
  return next;
}

let descriptorPathsWork = false;

async function requireDescriptorPaths(): Promise<void> {
  if (descriptorPathsWork) return;
  descriptorPathsWork = await hasDescriptorPaths();
  if (!descriptorPathsWork)
    throw new FileError('failed', 'paths cannot be followed safely on this host: /proc is not available');
}

/** Whether {@link PinnedDirectory} works here. */
export async function hasDescriptorPaths(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    return (await callSystem(statfs(DESCRIPTORS))).type === PROC_SUPER_MAGIC;
  } catch (error) {
    if (error instanceof OsError && error.errno === ENOENT) return false;
    throw error;
  }
}
