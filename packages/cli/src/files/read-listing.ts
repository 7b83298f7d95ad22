import { basename } from 'node:path';
import {
  CapabilityMissingError,
  FileSystemError,
  type FileType,
  type Machine,
  type Stats,
} from '@exec-server/client';

/** Most entries that are looked at at once. */
const MAX_LOOKS_AT_ONCE = 32;

/** Something that `ls` lists. */
export interface ListedFile {
  readonly name: string;
  /** Absolute, on the server's machine. */
  readonly path: string;
  readonly type: FileType;
  /** Absent where it was not asked for, or cannot be told. */
  readonly details?: FileDetails;
}

export interface FileDetails {
  readonly stats: Stats;
  /** What a link says. */
  readonly target?: string;
}

export interface ListingOptions {
  /** Names that begin with a dot, too. */
  readonly all: boolean;
  /** Size, permissions and so on of each. */
  readonly details: boolean;
}

/** What is in a directory, by name; or the one thing that is there. */
export async function readListing(
  machine: Machine,
  path: string,
  { all, details }: ListingOptions,
): Promise<ListedFile[]> {
  const files = await findFiles(machine, path, all);
  if (!details) return files;
  const detailed: ListedFile[] = [];
  for (let start = 0; start < files.length; start += MAX_LOOKS_AT_ONCE) {
    const batch = files.slice(start, start + MAX_LOOKS_AT_ONCE);
    detailed.push(...(await Promise.all(batch.map((file) => addDetails(machine, file)))));
  }
  return detailed;
}

async function findFiles(machine: Machine, path: string, all: boolean): Promise<ListedFile[]> {
  const { type } = await machine.fs.stat(path).catch((error: unknown) => {
    // A link that leads nowhere can still be listed.
    if (error instanceof FileSystemError && error.errno === 'ENOENT') return machine.fs.lstat(path);
    throw error;
  });
  if (type !== 'directory') return [{ name: basename(path), path, type }];
  const entries = await machine.fs.readdir(path, { withFileTypes: true });
  return entries
    .filter(({ name }) => all || !name.startsWith('.'))
    .map((entry) => ({
      name: entry.name,
      path: `${entry.parentPath === '/' ? '' : entry.parentPath}/${entry.name}`,
      type: entry.type,
    }));
}

async function addDetails({ fs }: Machine, file: ListedFile): Promise<ListedFile> {
  try {
    const stats = await fs.lstat(file.path);
    const { type } = stats;
    const target = type === 'symlink' ? await fs.readlink(file.path) : undefined;
    return { ...file, type, details: { stats, ...(target !== undefined && { target }) } };
  } catch (error) {
    // The server knows no links, and tells of what they lead to.
    if (error instanceof CapabilityMissingError)
      return { ...file, details: { stats: await fs.stat(file.path) } };
    // Gone meanwhile, or with a name that is no UTF-8 and does not lead back.
    if (error instanceof FileSystemError && error.errno === 'ENOENT') return file;
    throw error;
  }
}
