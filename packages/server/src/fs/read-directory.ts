import type { Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { MAX_DIRECTORY_ENTRIES } from '@exec-server/protocol';
import { FileError } from './file-error.js';
import { listDirectory } from './list-directory.js';
import { joinPath } from './native-path.js';

export interface DirectoryEntry {
  readonly name: Buffer;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isSymlink: boolean;
}

export interface ReadDirectoryOptions {
  /** Also yield links that lead nowhere, as neither file nor directory. */
  readonly includeBroken: boolean;
  readonly signal: AbortSignal;
}

/** The entries of a directory of at most 50,000, in the order of the file system. */
export async function readDirectory(path: Buffer, options: ReadDirectoryOptions): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  let count = 0;
  for await (const entry of describeEntries(path, options))
    if (++count <= MAX_DIRECTORY_ENTRIES) entries.push(entry);
  if (count <= MAX_DIRECTORY_ENTRIES) return entries;
  const limit = `limit is ${MAX_DIRECTORY_ENTRIES}`;
  throw new FileError('failed', `fs/readDirectory returned ${count} entries; ${limit}`);
}

/** Entries with the type of what they are or, if links, lead to. */
export async function* describeEntries(
  path: Buffer,
  { includeBroken, signal }: ReadDirectoryOptions,
): AsyncGenerator<DirectoryEntry, void> {
  for await (const entry of listDirectory(path)) {
    signal.throwIfAborted();
    const isSymlink = entry.isSymbolicLink();
    const target = isSymlink ? await findTarget(joinPath(path, entry.name)) : entry;
    if (target === undefined && !includeBroken) continue;
    yield {
      name: entry.name,
      isDirectory: target?.isDirectory() ?? false,
      isFile: target?.isFile() ?? false,
      isSymlink,
    };
  }
}

async function findTarget(link: Buffer): Promise<Pick<Dirent, 'isDirectory' | 'isFile'> | undefined> {
  try {
    return await stat(link);
  } catch {
    // Whether it leads nowhere, in circles or where we may not look: it cannot be followed.
    return undefined;
  }
}
