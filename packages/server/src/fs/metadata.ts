import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { callSystem } from './file-error.js';
import { splitPath } from './native-path.js';
import { type LinkPolicy, statUnlinked, withoutLinks } from './no-follow.js';
import { type PinnedDirectory, withDirectory } from './pinned-directory.js';
import { MAX_MODE } from './set-mode.js';

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

export interface FileMetadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  /** The path itself is a symbolic link; everything else describes what it leads to. */
  readonly isSymlink: boolean;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970, 0 if unknown. */
  readonly createdAtMs: number;
  /** Milliseconds since 1970. Times before 1970 are 0 where links are followed. */
  readonly modifiedAtMs: number;
  /** Permission bits. */
  readonly mode: number;
}

export interface MetadataOptions extends LinkPolicy {
  /** Describe a link at the end of the path itself. @default false */
  readonly describeLink?: boolean;
}

/**
 * Describes what is at a path. On the thread pool, although that is a good part of the time that such a request takes
 * (`bench/fs-metadata.mjs`): a network file system that hangs would take the event loop, and every connection, along.
 */
export async function readMetadata(
  path: Buffer,
  { followSymlinks, describeLink = false }: MetadataOptions,
): Promise<FileMetadata> {
  if (!followSymlinks) return readUnlinked(path, describeLink ? lstatExact : statUnlinked);
  const own = await lstatExact(path);
  const isSymlink = own.isSymbolicLink();
  const stats = isSymlink && !describeLink ? await callSystem(stat(path, { bigint: true })) : own;
  return describe(stats, { isSymlink, modifiedAtMs: Math.max(0, toMs(stats.mtimeNs)) });
}

async function readUnlinked(
  path: Buffer,
  look: (entry: Buffer) => Promise<BigIntStats>,
): Promise<FileMetadata> {
  // The root has no name to look up in another directory.
  const isRoot = splitPath(path).length === 0;
  const stats = await (isRoot ? withDirectory([], statRoot) : withoutLinks(path, look));
  return describe(stats, { isSymlink: stats.isSymbolicLink(), modifiedAtMs: toMs(stats.mtimeNs) });
}

function lstatExact(path: Buffer): Promise<BigIntStats> {
  return callSystem(lstat(path, { bigint: true }));
}

function statRoot(root: PinnedDirectory): Promise<BigIntStats> {
  return callSystem(stat(root.path, { bigint: true }));
}

function describe(
  stats: BigIntStats,
  { isSymlink, modifiedAtMs }: Pick<FileMetadata, 'isSymlink' | 'modifiedAtMs'>,
): FileMetadata {
  return {
    isDirectory: stats.isDirectory(),
    isFile: stats.isFile(),
    isSymlink,
    size: Number(stats.size),
    createdAtMs: toMs(stats.birthtimeNs),
    modifiedAtMs,
    mode: Number(stats.mode) & MAX_MODE,
  };
}

/** Rounds down, also before 1970. A double of milliseconds would round up what is just below the next one. */
function toMs(nanoseconds: bigint): number {
  const floored = nanoseconds >= 0n ? nanoseconds : nanoseconds - NANOSECONDS_PER_MILLISECOND + 1n;
  return Number(floored / NANOSECONDS_PER_MILLISECOND);
}
