import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { callSystem } from './file-error.js';
import { splitPath } from './native-path.js';
import { type LinkPolicy, statUnlinked, withoutLinks } from './no-follow.js';
import { type PinnedDirectory, withDirectory } from './pinned-directory.js';

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

export interface FileMetadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  /** The path itself is a symbolic link; everything else describes what it leads to. */
  readonly isSymlink: boolean;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970, 0 if unknown. Known only where links are not followed, as clients expect it. */
  readonly createdAtMs: number;
  /** Milliseconds since 1970. Times before 1970 are 0 where links are followed. */
  readonly modifiedAtMs: number;
}

/**
 * Describes what is at a path. On the thread pool, although that is a good part of the time that such a request takes
 * (`bench/fs-metadata.mjs`): a network file system that hangs would take the event loop, and every connection, along.
 */
export async function readMetadata(path: Buffer, { followSymlinks }: LinkPolicy): Promise<FileMetadata> {
  if (!followSymlinks) return readUnlinked(path);
  const own = await callSystem(lstat(path, { bigint: true }));
  const isSymlink = own.isSymbolicLink();
  const stats = isSymlink ? await callSystem(stat(path, { bigint: true })) : own;
  return describe(stats, { isSymlink, createdAtMs: 0, modifiedAtMs: Math.max(0, toMs(stats.mtimeNs)) });
}

async function readUnlinked(path: Buffer): Promise<FileMetadata> {
  // The root has no name to look up in another directory.
  const isRoot = splitPath(path).length === 0;
  const stats = await (isRoot ? withDirectory([], statRoot) : withoutLinks(path, statUnlinked));
  const createdAtMs = toMs(stats.birthtimeNs);
  return describe(stats, { isSymlink: false, createdAtMs, modifiedAtMs: toMs(stats.mtimeNs) });
}

function statRoot(root: PinnedDirectory): Promise<BigIntStats> {
  return callSystem(stat(root.path, { bigint: true }));
}

function describe(
  stats: BigIntStats,
  { isSymlink, ...times }: Pick<FileMetadata, 'isSymlink' | 'createdAtMs' | 'modifiedAtMs'>,
): FileMetadata {
  const size = Number(stats.size);
  return { isDirectory: stats.isDirectory(), isFile: stats.isFile(), isSymlink, size, ...times };
}

/** Rounds down, also before 1970. A double of milliseconds would round up what is just below the next one. */
function toMs(nanoseconds: bigint): number {
  const floored = nanoseconds >= 0n ? nanoseconds : nanoseconds - NANOSECONDS_PER_MILLISECOND + 1n;
  return Number(floored / NANOSECONDS_PER_MILLISECOND);
}
