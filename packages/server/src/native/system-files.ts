import { closeSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { descriptorReserve } from './descriptor-reserve.js';

// Files of /proc and of cgroups, by which processes are found and ended. They are read and written also when no
// descriptor is left. Whoever cannot look must not take somebody for gone, so that every other failure is thrown.

/** What is said of a process or group that is no more: its directory is gone, or what was opened in it is void. */
const GONE: ReadonlySet<unknown> = new Set(['ENOENT', 'ESRCH', 'ENODEV']);

/** Whether a failure says that the process or group is no more. */
export function saysGone(error: unknown): boolean {
  return GONE.has((error as NodeJS.ErrnoException).code);
}

/** Whether a failure says that something is there, and hidden from this user. */
export function saysHidden(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}

/** The text of a file; `null` when it is gone, or hidden. */
export function readSystemFile(path: string): string | null {
  return unlessHidden(() => unlessGone(() => readFileSync(path, 'latin1')));
}

/** The names in a directory; `null` when it is gone, or hidden. */
export function listSystemDirectory(path: string): string[] | null {
  return unlessHidden(() => unlessGone(() => readdirSync(path)));
}

/** The names of the directories in a directory; `null` when it is gone, or hidden. */
export function listSubdirectories(path: string): string[] | null {
  const entries = unlessHidden(() => unlessGone(() => readdirSync(path, { withFileTypes: true })));
  return entries?.filter((entry) => entry.isDirectory()).map(({ name }) => name) ?? null;
}

/** The first bytes of a file, as many as `into` takes, by a single read; `null` when it is gone. */
export function readSystemLine(path: string, into: Buffer): string | null {
  return unlessGone(() => {
    const fd = openSync(path, 'r');
    try {
      return into.toString('latin1', 0, readSync(fd, into));
    } finally {
      closeSync(fd);
    }
  });
}

/** Writes to a file that is there; false when it is gone. */
export function writeSystemFile(path: string, text: string): boolean {
  return unlessGone(() => writeFileSync(path, text, { flag: 'r+' })) !== null;
}

/** What a call returns; `null` when it says that what it is about is hidden. */
export function unlessHidden<Result>(call: () => Result): Result | null {
  try {
    return call();
  } catch (error) {
    if (saysHidden(error)) return null;
    throw error;
  }
}

function unlessGone<Result>(call: () => Result): Result | null {
  try {
    return descriptorReserve.use(call);
  } catch (error) {
    if (saysGone(error)) return null;
    throw error;
  }
}
