import { constants } from 'node:os';
import {
  ForeignPathError,
  internalError,
  invalidRequest,
  notFound,
  pathUriToNative,
  type RpcError,
} from '@exec-server/protocol';
import { normalizePath } from '../../fs/native-path.js';
import type { OsError } from '../../os-error.js';
import { explainFailure } from '../file-failure.js';
import { fileFailure } from '../os-failure.js';

const { EACCES, EINVAL, ENOENT, EPERM } = constants.errno;

/** The path of this host that a URI names. `.` and `..` that it carries escaped are resolved by their text, too. */
export function toNativePath(uri: string): Buffer {
  try {
    return normalizePath(pathUriToNative(uri));
  } catch (error) {
    throw error instanceof ForeignPathError ? invalidRequest(error.message, 'foreign_path') : error;
  }
}

/** Awaits a file operation and says in the words of the wire why it failed. */
export function answerFor<T>(operation: Promise<T>): Promise<T> {
  return explainFailure(operation, osErrorToRpc);
}

/** The answer for a failed system call. */
export function osErrorToRpc(error: OsError): RpcError {
  switch (error.errno) {
    case ENOENT:
      return notFound(error.message, ...fileFailure(error));
    case EINVAL:
    case EACCES:
    case EPERM:
      return invalidRequest(error.message, ...fileFailure(error));
    default:
      return internalError(error.message, ...fileFailure(error));
  }
}
