import { constants } from 'node:os';
import { OsError } from '../os-error.js';

/** A dialect gives each kind its code and name. */
export type FileFailure =
  /** The request asks for what is not done. */
  | 'refused'
  /** The id of a handle or of a watch is in use. */
  | 'id-taken'
  /** As many are open as may be. */
  | 'over-limit'
  /** It could not be done here. */
  | 'failed';

/** Why a file operation did not happen, where no system call has a number for it. */
export class FileError extends Error {
  override readonly name = 'FileError';
  constructor(
    readonly failure: FileFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Errors for want of something that others hold now: what failed may work the next time. */
const WANTING: ReadonlySet<string | undefined> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOSPC',
  'EDQUOT',
  'EIO',
]);

/** Throws an error of `node:fs` on, as an `OsError`, that says nothing about the path: something was wanting. */
export function throwIfWanting(error: unknown): void {
  if (WANTING.has((error as NodeJS.ErrnoException).code)) throw toFileError(error);
}

export const { EACCES, EBUSY, EEXIST, EINVAL, EISDIR, ELOOP, ENOENT, ENOTDIR, EPERM } = constants.errno;

/** Awaits a call of `node:fs`. Throws an `OsError` where the system refused it, a {@link FileError} for a NUL. */
export async function callSystem<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toFileError(error);
  }
}

/** An error of `node:fs` as one of this room. */
export function toFileError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof OsError) return error;
  const { errno, code, syscall = 'file operation' } = error as NodeJS.ErrnoException;
  if (errno !== undefined) return new OsError(Math.abs(errno), syscall);
  // The only argument of a file operation that can be wrong by its value is a path with a NUL in it.
  if (code === 'ERR_INVALID_ARG_VALUE')
    return new FileError('refused', 'file name contained an unexpected NUL byte');
  return error;
}

/** Whether `error` is the system's answer with one of these numbers. */
export function isOsError(error: unknown, ...errnos: readonly number[]): error is OsError {
  return error instanceof OsError && errnos.includes(error.errno);
}

/** Awaits `call`, or gives `undefined` where the system answers with one of `errnos`. */
export async function unlessErrno<T>(call: Promise<T>, ...errnos: readonly number[]): Promise<T | undefined> {
  try {
    return await callSystem(call);
  } catch (error) {
    if (isOsError(error, ...errnos)) return undefined;
    throw error;
  }
}
