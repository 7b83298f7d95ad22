import { ErrorCode, readErrno } from '@exec-server/protocol';
import { RejectedError } from '../errors.js';

/** Numbers of the system in the texts of the server, by name: those of Linux, and of macOS where they differ. */
const ERRNO_NAMES: Readonly<Record<number, string>> = {
  1: 'EPERM',
  2: 'ENOENT',
  4: 'EINTR',
  5: 'EIO',
  6: 'ENXIO',
  9: 'EBADF',
  11: 'EAGAIN',
  12: 'ENOMEM',
  13: 'EACCES',
  16: 'EBUSY',
  17: 'EEXIST',
  18: 'EXDEV',
  19: 'ENODEV',
  20: 'ENOTDIR',
  21: 'EISDIR',
  22: 'EINVAL',
  23: 'ENFILE',
  24: 'EMFILE',
  26: 'ETXTBSY',
  27: 'EFBIG',
  28: 'ENOSPC',
  29: 'ESPIPE',
  30: 'EROFS',
  31: 'EMLINK',
  32: 'EPIPE',
  36: 'ENAMETOOLONG',
  39: 'ENOTEMPTY',
  40: 'ELOOP',
  62: 'ELOOP',
  63: 'ENAMETOOLONG',
  66: 'ENOTEMPTY',
  75: 'EOVERFLOW',
  95: 'ENOTSUP',
  110: 'ETIMEDOUT',
  116: 'ESTALE',
  122: 'EDQUOT',
};

/** Refusals that carry no number but have one where files are local. */
const ERRNO_OF_REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/^path contains a symbolic link$/, 'ELOOP'],
  [/^fs\/copy requires recursive: true/, 'EISDIR'],
  [/^fs\/copy (?:cannot copy a directory to itself|only supports regular files)/, 'EINVAL'],
  [/NUL byte$/, 'EINVAL'],
  [/^at most \d+ file handles may be open/, 'EMFILE'],
  [/^file is too large to read/, 'EFBIG'],
];

/** Where a file operation failed. */
export interface FailedOperation {
  /** What was being done, by the name of the method, e.g. `readFile`. */
  readonly operation: string;
  /** What it was done to, as text. */
  readonly path: string;
}

/** The server could not do something with a file. */
export class FileSystemError extends RejectedError {
  override readonly name = 'FileSystemError';
  /** Name of the system's error, e.g. `ENOENT`; absent where the server told none. */
  readonly errno: string | undefined;
  /** What was being done, by the name of the method, e.g. `readFile`. */
  readonly operation: string;
  /** What it was done to. */
  readonly path: string;

  constructor(
    reason: string,
    rpcCode: number,
    { operation, path }: FailedOperation,
    options: { readonly cause?: unknown; readonly data?: unknown; readonly retryable?: boolean } = {},
  ) {
    const errno = readErrno(options.data) ?? findErrno(reason, rpcCode);
    super(`${errno === undefined ? '' : `${errno}: `}${reason}, ${operation} '${path}'`, rpcCode, options);
    this.errno = errno;
    this.operation = operation;
    this.path = path;
  }
}

/** Whether an error says that a file operation failed in one of these ways. */
export function hasErrno(error: unknown, ...errnos: readonly string[]): error is FileSystemError {
  return error instanceof FileSystemError && error.errno !== undefined && errnos.includes(error.errno);
}

/** Awaits the answer to a file operation; what the server refuses says what could not be done, and to what. */
export async function explainFailure<T>(answer: Promise<T>, failed: FailedOperation): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof RejectedError) || error instanceof FileSystemError) throw error;
    const { message, rpcCode, data, retryable } = error;
    throw new FileSystemError(message, rpcCode, failed, { cause: error, data, retryable });
  }
}

function findErrno(reason: string, rpcCode: number): string | undefined {
  const number = /\(os error (\d+)\)$/.exec(reason)?.[1];
  if (number !== undefined) return ERRNO_NAMES[Number(number)];
  // A handle that is not known has the same code; it is no file that is missing.
  if (reason.startsWith('unknown file handle')) return 'EBADF';
  if (rpcCode === ErrorCode.notFound) return 'ENOENT';
  return ERRNO_OF_REFUSALS.find(([pattern]) => pattern.test(reason))?.[1];
}
