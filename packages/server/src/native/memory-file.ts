import { writeSync } from 'node:fs';
import { OsError } from '../os-error.js';
import { toCString } from './c-strings.js';
import { EINVAL, ENOTSUP } from './constants.js';
import { checkResult, type Libc, loadLibc } from './libc.js';

const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
/** Known since Linux 6.3, and needed where a system makes memory files that cannot be executed otherwise. */
const MFD_EXEC = 0x10;

const F_ADD_SEALS = 1033;
/** F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE. */
const ALL_SEALS = 0xf;

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

export interface MemoryFileOptions {
  /** Whether it is a program. @default false */
  readonly executable?: boolean;
}

/** Throws `OsError`, ENOTSUP where there are no memory files. */
export function createMemoryFile(
  contents: Uint8Array,
  { executable = false }: MemoryFileOptions = {},
): MemoryFile {
  const libc: Libc = loadLibc();
  const create = libc.memfd_create;
  if (create === null) throw new OsError(ENOTSUP, 'memfd_create');
  const name = toCString(NAME, 'memfd_create');
  const flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  let result = create(name, executable ? flags | MFD_EXEC : flags);
  // An older kernel does not know the flag, and every memory file can be executed there.
  if (result < 0 && executable && libc.errno() === EINVAL) result = create(name, flags);
  const fd = checkResult(libc, result, 'memfd_create');
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

/** Lets nobody change a memory file any more, whoever has a descriptor of it. Throws `OsError`. */
export function sealMemoryFile({ fd }: MemoryFile): void {
  const libc: Libc = loadLibc();
  checkResult(libc, libc.fcntl(fd, F_ADD_SEALS, ALL_SEALS), 'fcntl');
}
