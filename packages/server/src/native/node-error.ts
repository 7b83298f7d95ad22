import { OsError } from '../os-error.js';
import { EIO } from './constants.js';

/** An error of Node as the one of the system call behind it; `otherwise` is for errors that have none. */
export function toOsError(error: unknown, syscall: string, otherwise: number = EIO): OsError {
  if (error instanceof OsError) return error;
  const { errno } = error as NodeJS.ErrnoException;
  return new OsError(errno === undefined ? otherwise : Math.abs(errno), syscall);
}
