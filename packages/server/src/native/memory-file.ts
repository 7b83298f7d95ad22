import { writeSync } from 'node:fs';
import { OsError } from '../os-error.js';
import { toCString } from './c-strings.js';
import { ENOTSUP } from './constants.js';
import { checkResult, type Libc, loadLibc } from './libc.js';

const MFD_CLOEXEC = 1;

/** What links in `/proc` show a memory file as. */
const NAME = 'exec-server';

/** A file that has no path and is never on disk; gone when the last descriptor of it is closed. */
export interface MemoryFile {
  /** Close-on-exec; a child gets it as an extra descriptor. */
  readonly fd: number;
  close(): void;
}

/** Whether this system has memory files. */
export function hasMemoryFiles(): boolean {
  try {
    return loadLibc().memfd_create !== null;
  } catch {
    return false;
  }
}

/** Throws `OsError`, ENOTSUP where there are no memory files. */
export function createMemoryFile(contents: Uint8Array): MemoryFile {
  const libc: Libc = loadLibc();
  if (libc.memfd_create === null) throw new OsError(ENOTSUP, 'memfd_create');
  const fd = checkResult(
    libc,
    libc.memfd_create(toCString(NAME, 'memfd_create'), MFD_CLOEXEC),
    'memfd_create',
  );
  const close = () => void libc.close(fd);
  try {
    for (let written = 0; written < contents.length; )
      written += writeSync(fd, contents, written, contents.length - written, written);
  } catch (error) {
    close();
    throw error;
  }
  return { fd, close };
}
