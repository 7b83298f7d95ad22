import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { callSystem, FileError } from './file-error.js';
import { splitPath } from './native-path.js';
import { withDirectory } from './pinned-directory.js';

/** An operation that treats symbolic links in its path in one of two ways. */
export interface LinkPolicy {
  /** False refuses a symbolic link in any component. */
  readonly followSymlinks: boolean;
}

/**
 * Runs `operate` with a path of the entry that `path` names: no directory on the way to it is a symbolic link, or can
 * become one meanwhile. The entry itself may be one, which is for `operate` to refuse.
 */
export async function withoutLinks<T>(path: Uint8Array, operate: (entry: Buffer) => Promise<T>): Promise<T> {
  const names = splitPath(path);
  const name = names.pop();
  if (name === undefined) throw new FileError('refused', 'path must name an entry');
  return withDirectory(names, (directory) => operate(directory.entry(name)));
}

/** Looks at an entry and refuses a symbolic link. */
export async function statUnlinked(entry: Buffer): Promise<BigIntStats> {
  const stats = await callSystem(lstat(entry, { bigint: true }));
  if (stats.isSymbolicLink()) throw new FileError('refused', 'path contains a symbolic link');
  return stats;
}
