import { internalError, invalidRequest, type RpcError } from '@exec-server/protocol';
import { FileError } from '../fs/file-error.js';
import { OsError } from '../os-error.js';

/** Awaits a file operation and says why it failed: dialects have words of their own for system calls alone. */
export async function explainFailure<T>(
  operation: Promise<T>,
  osErrorToRpc: (error: OsError) => RpcError,
): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof OsError) throw osErrorToRpc(error);
    if (!(error instanceof FileError)) throw error;
    throw error.failure === 'refused' ? invalidRequest(error.message) : internalError(error.message);
  }
}
