import { mkdir, stat } from 'node:fs/promises';
import { callSystem, EEXIST, ENOENT, FileError, isOsError, unlessErrno } from './file-error.js';
import { parentPath, splitPath } from './native-path.js';
import { type LinkPolicy, withoutLinks } from './no-follow.js';
import { descend, PinnedDirectory } from './pinned-directory.js';

export interface CreateDirectoryOptions extends LinkPolicy {
  /** Create the parents that are missing; a directory that exists is fine then. */
  readonly recursive: boolean;
}

export async function createDirectory(
  path: Buffer,
  { recursive, followSymlinks }: CreateDirectoryOptions,
): Promise<void> {
  if (followSymlinks) return recursive ? createWithParents(path) : callSystem(mkdir(path));
  const names = splitPath(path);
  if (recursive) return descend(names, openOrCreate, async () => {});
  if (names.length === 0) throw new FileError('failed', 'directory already exists');
  return withoutLinks(path, (entry) => callSystem(mkdir(entry)));
}

/** Creates a directory and its missing parents. */
export async function createWithParents(path: Buffer): Promise<void> {
  const missing = [path];
  for (let at = 0; at >= 0; ) {
    const directory = missing[at]!;
    try {
      await callSystem(mkdir(directory));
      at--;
    } catch (error) {
      if (isOsError(error, ENOENT) && at === missing.length - 1 && directory.length > 1) {
        missing.push(parentPath(directory));
        at++;
      } else if (await isDirectory(directory)) at--;
      else throw error;
    }
  }
}

async function isDirectory(path: Buffer): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // The error that led here says more than this one.
    return false;
  }
}

async function openOrCreate(parent: PinnedDirectory, name: Uint8Array): Promise<PinnedDirectory> {
  const entry = parent.entry(name);
  try {
    return await PinnedDirectory.open(entry);
  } catch (error) {
    if (!isOsError(error, ENOENT)) throw error;
  }
  // Somebody else may create it at the same moment.
  await unlessErrno(mkdir(entry), EEXIST);
  return PinnedDirectory.open(entry);
}
