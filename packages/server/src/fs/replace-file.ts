import { randomBytes } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { access, type FileHandle, lstat, open, readlink, realpath, rename, unlink } from 'node:fs/promises';
import { OsError } from '../os-error.js';
import { callSystem, EISDIR, ELOOP, ENOENT, EPERM, FileError, unlessErrno } from './file-error.js';
import { applyMode } from './file-mode.js';
import { joinPath, parentPath } from './native-path.js';
import { type LinkPolicy, withoutLinks } from './no-follow.js';
import { NEW_FILE_MODE, withOpenFile, writeAll } from './write-file.js';

/** Links that one path may lead through; as many as Linux follows. */
const MAX_LINKS = 40;

const PERMISSION_BITS = 0o7777;

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Creates a file or replaces it in one step: whoever reads it sees the old content or the new one, also after a crash.
 * A file that is replaced keeps its mode, and its owner where that may be set; a symbolic link keeps leading to it.
 * Hard links of the old file keep the old content.
 */
export async function replaceFile(
  path: Buffer,
  data: Uint8Array,
  { followSymlinks }: LinkPolicy,
): Promise<void> {
  if (!followSymlinks) return withoutLinks(path, (entry) => replaceEntry(entry, data));
  return replaceEntry(await resolveLinks(path), data);
}

/** The path that a chain of links ends at. Nothing needs to exist there. */
async function resolveLinks(path: Buffer): Promise<Buffer> {
  let entry = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const stats = await unlessErrno(lstat(entry), ENOENT);
    if (!stats?.isSymbolicLink()) return entry;
    const target = await callSystem(readlink(entry, { encoding: 'buffer' }));
    // The system resolves `..` in a target after the links before it, so it is kept as it is and the base made plain.
    const base = await callSystem(realpath(parentPath(entry), { encoding: 'buffer' }));
    entry = target.at(0) === 0x2f ? target : joinPath(base, target);
  }
  throw new OsError(ELOOP, 'open');
}

async function replaceEntry(entry: Buffer, data: Uint8Array): Promise<void> {
  const replaced = await unlessErrno(lstat(entry, { bigint: true }), ENOENT);
  if (replaced !== undefined) await checkReplaceable(entry, replaced);
  const directory = parentPath(entry);
  const draft = joinPath(directory, Buffer.from(`.exec-server-${randomBytes(8).toString('hex')}`));
  await withOpenFile(draft, FLAGS, NEW_FILE_MODE, async (file) => {
    try {
      await writeAll(file, data);
      if (replaced !== undefined) await adopt(file, replaced);
      await callSystem(file.sync());
      await callSystem(rename(draft, entry));
    } catch (error) {
      await unlessErrno(unlink(draft), ENOENT);
      throw error;
    }
  });
  await syncDirectory(directory);
}

/** Replacing asks for leave to write the directory only; a file that may not be written is to stay as it is. */
async function checkReplaceable(entry: Buffer, stats: BigIntStats): Promise<void> {
  if (stats.isSymbolicLink()) throw new OsError(ELOOP, 'open');
  if (stats.isDirectory()) throw new OsError(EISDIR, 'open');
  if (!stats.isFile()) throw new FileError('refused', 'path is not a regular file');
  await callSystem(access(entry, constants.W_OK));
}

async function adopt(file: FileHandle, replaced: BigIntStats): Promise<void> {
  // A new owner takes away the bits that run a program as somebody else, so the mode comes last.
  await unlessErrno(file.chown(Number(replaced.uid), Number(replaced.gid)), EPERM);
  await applyMode(file, Number(replaced.mode) & PERMISSION_BITS);
}

/** Makes the new name last. */
async function syncDirectory(directory: Buffer): Promise<void> {
  const handle = await callSystem(open(directory, constants.O_RDONLY | constants.O_DIRECTORY));
  try {
    await callSystem(handle.sync());
  } finally {
    await handle.close();
  }
}
