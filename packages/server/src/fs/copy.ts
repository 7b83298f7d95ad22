import { lstat, readlink, realpath, symlink } from 'node:fs/promises';
import { copyFile } from './copy-file.js';
import { createWithParents } from './create-directory.js';
import { callSystem, ENOENT, ENOTDIR, FileError, unlessErrno } from './file-error.js';
import { listDirectory } from './list-directory.js';
import { baseName, isWithin, joinPath, parentPath } from './native-path.js';
import { PinnedDirectory } from './pinned-directory.js';

export interface CopyOptions {
  /** Needed for directories. */
  readonly recursive: boolean;
}

/** Copies a file, a symbolic link as such, or a directory into one that need not exist. */
export async function copyPath(
  source: Buffer,
  destination: Buffer,
  { recursive }: CopyOptions,
): Promise<void> {
  const stats = await callSystem(lstat(source));
  if (stats.isDirectory()) {
    if (!recursive) throw refused('fs/copy requires recursive: true when sourcePath is a directory');
    if (isWithin(await resolveExisting(destination), await resolveExisting(source)))
      throw refused('fs/copy cannot copy a directory to itself or one of its descendants');
    await copyDirectory(source, destination);
  } else if (stats.isSymbolicLink()) await copyLink(source, destination);
  else if (stats.isFile()) await copyFile(source, destination);
  else throw refused('fs/copy only supports regular files, directories, and symlinks');
}

/** The path without symbolic links, as far as it exists. */
async function resolveExisting(path: Buffer): Promise<Buffer> {
  const resolved = await unlessErrno(realpath(path, { encoding: 'buffer' }), ENOENT, ENOTDIR);
  if (resolved !== undefined || path.length === 1) return resolved ?? path;
  return joinPath(await resolveExisting(parentPath(path)), baseName(path));
}

/** Copies what is in a directory and leaves out what is neither file, directory nor link. */
async function copyDirectory(source: Buffer, destination: Buffer): Promise<void> {
  await createWithParents(destination);
  const directory = await PinnedDirectory.open(source);
  try {
    const directories: Buffer[] = [];
    for await (const entry of listDirectory(directory.path)) {
      const target = joinPath(destination, entry.name);
      if (entry.isDirectory()) directories.push(entry.name);
      else if (entry.isSymbolicLink()) await copyLink(directory.entry(entry.name), target);
      else if (entry.isFile()) await copyFile(directory.entry(entry.name), target);
    }
    for (const name of directories) await copyDirectory(directory.entry(name), joinPath(destination, name));
  } finally {
    await directory.close();
  }
}

async function copyLink(source: Buffer, destination: Buffer): Promise<void> {
  const target = await callSystem(readlink(source, { encoding: 'buffer' }));
  await callSystem(symlink(target, destination));
}

function refused(message: string): FileError {
  return new FileError('refused', message);
}
