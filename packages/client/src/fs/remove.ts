import { ErrorCode } from '@exec-server/protocol';
import { RejectedError } from '../errors.js';
import type { SessionClient } from '../session-client.js';
import { explainFailure, FileSystemError } from './file-system-error.js';
import { toNativeText } from './remote-path.js';

/** What may be removed, and how. */
export interface RemoveOptions {
  readonly operation: 'rm' | 'rmdir' | 'unlink';
  readonly recursive?: boolean;
  readonly force?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Removes what is at a path. */
export async function removePath(client: SessionClient, uri: string, options: RemoveOptions): Promise<void> {
  const { operation, recursive = false, force = false, signal } = options;
  const failed = { operation, path: toNativeText(uri) };
  // The request removes empty directories and files alike.
  if (!recursive) await checkKind(client, uri, options);
  const params = { path: uri, recursive, force };
  await explainFailure(client.call('fs/remove', params, signal && { signal }), failed);
}

/** Throws for a directory that is not to be removed as such, and for something else in place of one. */
async function checkKind(client: SessionClient, uri: string, options: RemoveOptions): Promise<void> {
  const { operation, signal } = options;
  const isDirectory = await isDirectoryItself(client, uri, signal);
  if (isDirectory === undefined || isDirectory === (operation === 'rmdir')) return;
  const reason = isDirectory ? 'Is a directory (os error 21)' : 'Not a directory (os error 20)';
  throw new FileSystemError(reason, ErrorCode.internalError, { operation, path: toNativeText(uri) });
}

/** `undefined` where nothing can be seen: why is for the removal to tell. */
async function isDirectoryItself(
  client: SessionClient,
  uri: string,
  signal: AbortSignal | undefined,
): Promise<boolean | undefined> {
  try {
    const params = { path: uri, describeLink: true };
    const { isDirectory, isSymlink } = await client.call('fs/getMetadata', params, signal && { signal });
    return isDirectory && !isSymlink;
  } catch (error) {
    if (error instanceof RejectedError) return undefined;
    throw error;
  }
}
