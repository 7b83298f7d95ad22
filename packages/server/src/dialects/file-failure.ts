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
    throw fileErrorToRpc(error);
  }
}

function fileErrorToRpc({ failure, message }: FileError): RpcError {
  switch (failure) {
    case 'refused':
      return invalidRequest(message);
    case 'id-taken':
      return invalidRequest(message, 'id_taken');
    case 'over-limit':
      return invalidRequest(message, 'limit_reached');
    case 'failed':
      return internalError(message);
  }
}
