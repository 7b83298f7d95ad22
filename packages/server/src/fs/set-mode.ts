import { constants } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { callSystem, FileError } from './file-error.js';
import { type LinkPolicy, withoutLinks } from './no-follow.js';
import { descriptorPath, O_PATH } from './pinned-directory.js';
import { withOpenFile } from './write-file.js';

/** All permission bits: those of user, group and others, and the three special ones. */
export const MAX_MODE = 0o7777;

/** Sets the permission bits of what is at a path. */
export function setMode(path: Buffer, mode: number, { followSymlinks }: LinkPolicy): Promise<void> {
  if (followSymlinks) return callSystem(chmod(path, mode));
  return withoutLinks(path, (entry) =>
    // A descriptor that only names the file needs no permission to read it, and `chmod` takes the name of that.
    withOpenFile(entry, O_PATH | constants.O_NOFOLLOW, 0, async (file) => {
      if ((await callSystem(file.stat())).isSymbolicLink())
        throw new FileError('refused', 'path contains a symbolic link');
      await callSystem(chmod(descriptorPath(file), mode));
    }),
  );
}
