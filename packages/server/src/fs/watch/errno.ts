import { OsError } from '../../os-error.js';

/** The positive error number of a failed system call, whether Node made it or we; absent for other errors. */
export function errnoOf(error: unknown): number | undefined {
  if (error instanceof OsError) return error.errno;
  const { errno } = error as NodeJS.ErrnoException;
  return errno === undefined ? undefined : Math.abs(errno);
}

/** Throws Node's error as the `OsError` behind it, and any other as it is. */
export function throwOsError(error: unknown, syscall: string): never {
  const errno = errnoOf(error);
  if (errno === undefined || error instanceof OsError) throw error;
  throw new OsError(errno, syscall);
}
