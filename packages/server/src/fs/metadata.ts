import { type BigIntStats, constants } from 'node:fs';
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
  /** Asked first, and may answer at once. Links are not followed. @default nobody */
  readonly findCached?: ((path: Buffer) => EntryStats | undefined) | undefined;
}

/** What is told about an entry. */
interface EntryStats extends Pick<FileMetadata, 'size' | 'createdAtMs' | 'modifiedAtMs'> {
  /** Type and permission bits. */
  readonly mode: number;
}

/**
 * Describes what is at a path. On the thread pool, unless `findCached` knows: a network file system that hangs would
 * take the event loop, and every connection, along.
 */
export async function readMetadata(
  path: Buffer,
  { followSymlinks, describeLink = false, findCached }: MetadataOptions,
): Promise<FileMetadata> {
  if (!followSymlinks) return readUnlinked(path, describeLink ? lstatExact : statUnlinked);
  const own = findCached?.(path) ?? toEntryStats(await lstatExact(path));
  const isSymlink = isKind(own, constants.S_IFLNK);
  const stats =
    isSymlink && !describeLink ? toEntryStats(await callSystem(stat(path, { bigint: true }))) : own;
  return describe(stats, { isSymlink, modifiedAtMs: Math.max(0, stats.modifiedAtMs) });
}

async function readUnlinked(
  path: Buffer,
  look: (entry: Buffer) => Promise<BigIntStats>,
): Promise<FileMetadata> {
  // The root has no name to look up in another directory.
  const isRoot = splitPath(path).length === 0;
  const stats = toEntryStats(await (isRoot ? withDirectory([], statRoot) : withoutLinks(path, look)));
  return describe(stats, { isSymlink: isKind(stats, constants.S_IFLNK), modifiedAtMs: stats.modifiedAtMs });
}

function lstatExact(path: Buffer): Promise<BigIntStats> {
  return callSystem(lstat(path, { bigint: true }));
}

function statRoot(root: PinnedDirectory): Promise<BigIntStats> {
  return callSystem(stat(root.path, { bigint: true }));
}

function toEntryStats({ mode, size, birthtimeNs, mtimeNs }: BigIntStats): EntryStats {
  return {
    mode: Number(mode),
    size: Number(size),
    createdAtMs: toMs(birthtimeNs),
    modifiedAtMs: toMs(mtimeNs),
  };
}

function describe(
  stats: EntryStats,
  { isSymlink, modifiedAtMs }: Pick<FileMetadata, 'isSymlink' | 'modifiedAtMs'>,
): FileMetadata {
  return {
    isDirectory: isKind(stats, constants.S_IFDIR),
    isFile: isKind(stats, constants.S_IFREG),
    isSymlink,
    size: stats.size,
    createdAtMs: stats.createdAtMs,
    modifiedAtMs,
    mode: stats.mode & MAX_MODE,
  };
}

function isKind({ mode }: EntryStats, kind: number): boolean {
  return (mode & constants.S_IFMT) === kind;
}

/** Rounds down, also before 1970. A double of milliseconds would round up what is just below the next one. */
function toMs(nanoseconds: bigint): number {
  const floored = nanoseconds >= 0n ? nanoseconds : nanoseconds - NANOSECONDS_PER_MILLISECOND + 1n;
  return Number(floored / NANOSECONDS_PER_MILLISECOND);
}
