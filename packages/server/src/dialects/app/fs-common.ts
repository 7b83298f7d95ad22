import { internalError, invalidRequest, type RpcError } from '@exec-server/protocol';
import { EINVAL } from '../../fs/file-error.js';
import { normalizePath } from '../../fs/native-path.js';
import type { OsError } from '../../os-error.js';
import { explainFailure } from '../file-failure.js';
import { fileFailure } from '../os-failure.js';

/** The path as the file system takes it. */
export function toPath(path: string): Buffer {
  return normalizePath(Buffer.from(path));
}

/** Awaits a file operation and says in the words of this dialect why it failed. */
export function answerFor<T>(operation: Promise<T>): Promise<T> {
  return explainFailure(operation, osErrorToRpc);
}

/** Unlike the exec dialect, this one has no code for files that are not there or not allowed. */
function osErrorToRpc(error: OsError): RpcError {
  const { errno, message } = error;
  const failure = fileFailure(error);
  return errno === EINVAL ? invalidRequest(message, ...failure) : internalError(message, ...failure);
}
