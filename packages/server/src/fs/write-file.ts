import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { callSystem, FileError } from './file-error.js';
import { type LinkPolicy, withoutLinks } from './no-follow.js';

/** Permissions of a new file, before the umask. */
export const NEW_FILE_MODE = 0o666;

// A FIFO without a reader must not make the open wait, nor a terminal become ours.
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Creates a file or replaces its content in place. A link that leads nowhere creates what it names. */
export function writeFile(path: Buffer, data: Uint8Array, { followSymlinks }: LinkPolicy): Promise<void> {
  if (followSymlinks)
    return withOpenFile(path, FLAGS | constants.O_TRUNC, NEW_FILE_MODE, (file) => writeAll(file, data));
  return withoutLinks(path, (entry) =>
    // Emptied only once it is known to be a file: truncation may mean anything to a device.
    withOpenFile(entry, FLAGS | constants.O_NOFOLLOW, NEW_FILE_MODE, async (file) => {
      if (!(await callSystem(file.stat())).isFile())
        throw new FileError('refused', 'path is not a regular file');
      await callSystem(file.truncate());
      await writeAll(file, data);
    }),
  );
}

/** Opens a file for as long as `operate` takes. */
export async function withOpenFile<T>(
  path: Buffer,
  flags: number,
  mode: number,
  operate: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await callSystem(open(path, flags, mode));
  try {
    return await operate(file);
  } finally {
    await callSystem(file.close());
  }
}

/** Writes at the present position until everything is written. */
export async function writeAll(file: FileHandle, data: Uint8Array): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await callSystem(file.write(data, done, data.length - done));
    done += bytesWritten;
  }
}
