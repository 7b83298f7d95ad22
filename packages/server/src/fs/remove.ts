import { lstat, rmdir, unlink } from 'node:fs/promises';
import { OsError } from '../os-error.js';
import { callSystem, EBUSY, ENOENT, ENOTDIR, FileError, isOsError, unlessErrno } from './file-error.js';
import { listDirectory } from './list-directory.js';
import { splitPath } from './native-path.js';
import { type LinkPolicy, statUnlinked, withoutLinks } from './no-follow.js';
import { PinnedDirectory } from './pinned-directory.js';

export interface RemoveOptions extends LinkPolicy {
  /** Remove what is in a directory, too. */
  readonly recursive: boolean;
  /** What does not exist counts as removed. */
  readonly force: boolean;
}

/** Removes what is at a path. A symbolic link is removed itself, or refused. */
export async function removePath(path: Buffer, options: RemoveOptions): Promise<void> {
  const { recursive, force, followSymlinks } = options;
  if (!followSymlinks && recursive)
    throw new FileError('failed', 'recursive no-follow removal is unsupported');
  try {
    if (followSymlinks) await removeFollowing(path, options);
    else await withoutLinks(path, async (entry) => removeEntry(entry, await statUnlinked(entry)));
  } catch (error) {
    if (!(force && isOsError(error, ENOENT))) throw error;
  }
}

async function removeFollowing(path: Buffer, { recursive }: RemoveOptions): Promise<void> {
  // The end of it is known: the root is busy. What is below it is better kept.
  if (splitPath(path).length === 0) throw new OsError(EBUSY, 'rmdir');
  const stats = await callSystem(lstat(path));
  if (recursive && stats.isDirectory()) await removeTree(path);
  else await removeEntry(path, stats);
}

function removeEntry(entry: Buffer, stats: { isDirectory(): boolean }): Promise<void> {
  return callSystem(stats.isDirectory() ? rmdir(entry) : unlink(entry));
}

/**
 * Removes a directory with everything in it. Each directory is entered through its parent, so that a link which takes
 * the place of one cannot lead the removal elsewhere. What others remove meanwhile counts as removed.
 */
async function removeTree(path: Buffer): Promise<void> {
  const directory = await PinnedDirectory.open(path);
  try {
    const directories: Buffer[] = [];
    for await (const entry of listDirectory(directory.path)) {
      if (entry.isDirectory()) directories.push(entry.name);
      else await unlessErrno(unlink(directory.entry(entry.name)), ENOENT);
    }
    for (const name of directories) await removeChildTree(directory.entry(name));
  } finally {
    await directory.close();
  }
  await callSystem(rmdir(path));
}

async function removeChildTree(path: Buffer): Promise<void> {
  try {
    await removeTree(path);
  } catch (error) {
    // Something else has its place by now, and has to go as well.
    if (isOsError(error, ENOTDIR)) await unlessErrno(unlink(path), ENOENT);
    else if (!isOsError(error, ENOENT)) throw error;
  }
}
