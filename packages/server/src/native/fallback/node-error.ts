import { EIO } from '../constants.js';
import { OsError } from '../os-error.js';

/** An error of Node as the one of the system call behind it. */
export function toOsError(error: unknown, syscall: string): OsError {
  if (error instanceof OsError) return error;
  const { errno } = error as NodeJS.ErrnoException;
  return new OsError(errno === undefined ? EIO : Math.abs(errno), syscall);
}
