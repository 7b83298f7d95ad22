import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { callSystem, EACCES, FileError, isOsError } from './file-error.js';
import { type LinkPolicy, withoutLinks } from './no-follow.js';

/** Permissions of a new file, before the umask. */
export const NEW_FILE_MODE = 0o666;

// A FIFO without a reader must not make the open wait, nor a terminal become ours.
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Creates a file or replaces its content in place. A link that leads nowhere creates what it names. What is there is
 * written over and then cut off: emptied first, a file gives all its pages back only to get new ones, and that takes ten
 * times as long as the writing.
 */
export function writeFile(path: Buffer, data: Uint8Array, { followSymlinks }: LinkPolicy): Promise<void> {
  if (followSymlinks) return closeAfter(openInPlace(path), (file) => replaceContent(file, data, file.stat()));
  return withoutLinks(path, (entry) =>
    withOpenFile(entry, FLAGS | constants.O_NOFOLLOW, NEW_FILE_MODE, async (file) => {
      const stats = await callSystem(file.stat());
      if (!stats.isFile()) throw new FileError('refused', 'path is not a regular file');
      await replaceContent(file, data, Promise.resolve(stats));
    }),
  );
}

/** @param looking may still be going on: a file that is longer than `data` stays so however much of it is written */
async function replaceContent(file: FileHandle, data: Uint8Array, looking: Promise<Stats>): Promise<void> {
  const writing = writeWhatFits(file, data);
  // Both are over before anything else happens: neither may still use the file, or the data, after a failure of the other.
  await Promise.allSettled([writing, looking]);
  const { bytes, error } = await writing;
  const stats = await callSystem(looking);
  const isUntouched = error !== undefined && bytes === 0;
  // Truncation may mean anything to a device. What is replaced by nothing is cut off even if empty, and so is modified.
  if (stats.isFile() && !isUntouched && (stats.size > bytes || bytes === 0))
    await callSystem(file.truncate(bytes));
  if (error !== undefined) throw error;
}

/** Of several errors an open that empties the file meets another one first, and that is the one that is told. */
async function openInPlace(path: Buffer): Promise<FileHandle> {
  try {
    return await callSystem(open(path, FLAGS, NEW_FILE_MODE));
  } catch (error) {
    if (!isOsError(error, EACCES)) throw error;
    return callSystem(open(path, FLAGS | constants.O_TRUNC, NEW_FILE_MODE));
  }
}

/** Opens a file for as long as `operate` takes. */
export function withOpenFile<T>(
  path: Buffer,
  flags: number,
  mode: number,
  operate: (file: FileHandle) => Promise<T>,
): Promise<T> {
  return closeAfter(callSystem(open(path, flags, mode)), operate);
}

async function closeAfter<T>(
  opening: Promise<FileHandle>,
  operate: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await opening;
  try {
    return await operate(file);
  } finally {
    await callSystem(file.close());
  }
}

/** Writes at the present position until everything is written. */
export async function writeAll(file: FileHandle, data: Uint8Array): Promise<void> {
  const { error } = await writeWhatFits(file, data);
  if (error !== undefined) throw error;
}

/** Writes at the present position. Answers how many bytes, and if it was not all of them, why. */
async function writeWhatFits(
  file: FileHandle,
  data: Uint8Array,
): Promise<{ readonly bytes: number; readonly error?: Error }> {
  let bytes = 0;
  try {
    while (bytes < data.length)
      bytes += (await callSystem(file.write(data, bytes, data.length - bytes))).bytesWritten;
    return { bytes };
  } catch (error) {
    return { bytes, error: error as Error };
  }
}
