import { opendir, stat } from 'node:fs/promises';
import { asOsError } from '../environment/text-file.js';
import { type BytePath, joinBytePath, toPathBytes } from '../fs/watch/byte-path.js';

/** Bounds of one scan, so that a link to `/` stays affordable. */
export interface ScanLimits {
  /** Levels of directories below the root that are entered. */
  readonly depth: number;
  /** Directories that are entered, the root included. */
  readonly directories: number;
  /** Names that are looked at. */
  readonly entries: number;
}

export interface Scan {
  /** Regular files; links to files are not among them. */
  readonly files: readonly BytePath[];
  readonly errors: readonly { readonly path: BytePath; readonly message: string }[];
  /** Whether a limit, other than that of the depth, left something out. */
  readonly truncated: boolean;
}

interface Directory {
  readonly path: BytePath;
  readonly depth: number;
}

/**
 * Lists the files below a directory, breadth first, names in order of their bytes. Links to directories are followed,
 * and no directory is entered twice. Throws `OsError` when the root itself cannot be listed.
 */
export async function scanRoot(root: BytePath, limits: ScanLimits): Promise<Scan> {
  const files: BytePath[] = [];
  const errors: { path: BytePath; message: string }[] = [];
  const queue: Directory[] = [{ path: root, depth: 0 }];
  const seen = new Set([await identify(root)]);
  let entries = 0;
  let truncated = false;
  for (let index = 0; index < queue.length; index++) {
    const { path: directory, depth } = queue[index]!;
    let listing: Listing;
    try {
      listing = await list(directory, limits.entries - entries);
    } catch (error) {
      if (index === 0) throw error;
      errors.push({ path: directory, message: (error as Error).message });
      continue;
    }
    entries += listing.names.length;
    for (const { name, kind } of listing.names) {
      const path = joinBytePath(directory, name);
      if (kind === 'file') files.push(path);
      if (kind !== 'directory' || depth === limits.depth) continue;
      const identity = await identify(path).catch(() => undefined);
      if (identity === undefined || seen.has(identity)) continue;
      if (seen.size === limits.directories) truncated = true;
      else queue.push({ path, depth: depth + 1 });
      if (!truncated) seen.add(identity);
    }
    if (listing.cut) return { files, errors, truncated: true };
  }
  return { files, errors, truncated };
}

interface Listing {
  readonly names: readonly { readonly name: BytePath; readonly kind: 'file' | 'directory' | 'other' }[];
  /** Whether there are more names than were asked for. */
  readonly cut: boolean;
}

async function list(directory: BytePath, limit: number): Promise<Listing> {
  const names: { name: BytePath; kind: 'file' | 'directory' | 'other' }[] = [];
  try {
    for await (const entry of await opendir(toPathBytes(directory), { encoding: 'latin1' })) {
      if (names.length === limit) return { names: sortByName(names), cut: true };
      const { name } = entry;
      const linked = entry.isSymbolicLink() && (await leadsToDirectory(joinBytePath(directory, name)));
      const kind = entry.isFile() ? 'file' : linked || entry.isDirectory() ? 'directory' : 'other';
      names.push({ name, kind });
    }
  } catch (error) {
    throw asOsError(error);
  }
  return { names: sortByName(names), cut: false };
}

function sortByName<T extends { readonly name: BytePath }>(names: T[]): T[] {
  return names.sort((left, right) => (left.name < right.name ? -1 : 1));
}

async function leadsToDirectory(path: BytePath): Promise<boolean> {
  const stats = await stat(toPathBytes(path)).catch(() => undefined);
  return stats?.isDirectory() ?? false;
}

/** The same for every path that leads to the same directory. */
async function identify(path: BytePath): Promise<string> {
  const { dev, ino } = await stat(toPathBytes(path), { bigint: true });
  return `${dev}:${ino}`;
}
