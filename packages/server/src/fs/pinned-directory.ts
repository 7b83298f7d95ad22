import { constants } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { OsError } from '../os-error.js';
import { callSystem, EINVAL, ENOENT, FileError, unlessErrno } from './file-error.js';
import { joinPath } from './native-path.js';

// Linux values that `node:fs` does not export; the same on every architecture.
export const O_PATH = 0o10000000;
const PROC_SUPER_MAGIC = 0x9fa0;

const DESCRIPTORS = '/proc/self/fd';
const ROOT = Buffer.from('/');

/**
 * A directory that stays the same one whatever is renamed or replaced on the way to it: a descriptor, and paths that
 * start at that descriptor. `/proc/self/fd/<n>/name` is to the kernel what `openat(n, "name")` is, but every call of
 * `node:fs` takes it, and so it runs on the thread pool: a slow disk cannot hold up the event loop.
 */
export class PinnedDirectory {
  private constructor(
    private readonly handle: FileHandle,
    /** Names this directory while it is open. */
    readonly path: Buffer,
  ) {}

  /** Pins `/`. Throws a {@link FileError} where no path can start at a descriptor. */
  static async openRoot(): Promise<PinnedDirectory> {
    if (!(await hasDescriptorPaths()))
      throw new FileError('failed', 'symbolic links cannot be refused safely on this host: it has no /proc');
    return PinnedDirectory.open(ROOT);
  }

  /**
   * Pins a directory; a symbolic link is ENOTDIR. Where no path can start at a descriptor, entries are named by
   * `path`, and a link that takes its place later is not noticed.
   */
  static async open(path: Uint8Array): Promise<PinnedDirectory> {
    const isPinned = await hasDescriptorPaths();
    // O_PATH asks for no permission on the directory itself: one that may only be searched can be gone through.
    const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW | (isPinned ? O_PATH : constants.O_RDONLY);
    const handle = await callSystem(open(Buffer.from(path), flags));
    return new PinnedDirectory(handle, isPinned ? descriptorPath(handle) : Buffer.from(path));
  }

  /** Path of an entry, valid while this directory is open. */
  entry(name: Uint8Array): Buffer {
    if (name.includes(0)) throw new OsError(EINVAL, 'open');
    return joinPath(this.path, name);
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/** Another path of an open file, which no rename changes. Only where {@link PinnedDirectory.openRoot} works. */
export function descriptorPath(handle: FileHandle): Buffer {
  return Buffer.from(`${DESCRIPTORS}/${handle.fd}`);
}

/**
 * Runs `operate` in the directory that `names` lead to from `/`. A symbolic link on the way is ENOTDIR, also one that
 * appears while this goes on.
 */
export async function withDirectory<T>(
  names: readonly Uint8Array[],
  operate: (directory: PinnedDirectory) => Promise<T>,
): Promise<T> {
  return descend(names, (parent, name) => PinnedDirectory.open(parent.entry(name)), operate);
}

/** Like {@link withDirectory}, with `step` to get from a directory to the next. */
export async function descend<T>(
  names: readonly Uint8Array[],
  step: (parent: PinnedDirectory, name: Uint8Array) => Promise<PinnedDirectory>,
  operate: (directory: PinnedDirectory) => Promise<T>,
): Promise<T> {
  let directory = await PinnedDirectory.openRoot();
  try {
    for (const name of names) {
      const next = await step(directory, name);
      await directory.close();
      directory = next;
    }
    return await operate(directory);
  } finally {
    await directory.close();
  }
}

let descriptorPaths: boolean | undefined;

async function hasDescriptorPaths(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  // Asked once: a process does not lose its /proc. A failure to ask, as for want of descriptors, is no answer.
  descriptorPaths ??= (await unlessErrno(statfs(DESCRIPTORS), ENOENT))?.type === PROC_SUPER_MAGIC;
  return descriptorPaths;
}
