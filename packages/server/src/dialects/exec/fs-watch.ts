import {
  type FsChangedNotification,
  type FsEmptyResult,
  type FsUnwatchParams,
  type FsWatchParams,
  invalidRequest,
  nativeToPathUri,
} from '@exec-server/protocol';
import { toPathBytes } from '../../fs/watch/byte-path.js';
import type { FileChange } from '../../fs/watch/change-queue.js';
import { FileWatches, WatchError } from '../../fs/watch/file-watches.js';
import { OsError } from '../../os-error.js';
import type { HandlerContext } from '../dialect.js';
import { osErrorToRpc, refuseFileRestriction, toNativePath } from './fs-common.js';

export async function watchPath(
  { watchId, path, recursive, sandbox }: FsWatchParams,
  { engine: { clock, limits }, connection }: HandlerContext,
): Promise<FsEmptyResult> {
  refuseFileRestriction(sandbox);
  try {
    await connection.keep(FileWatches).add({
      id: watchId,
      path: toNativePath(path),
      recursive: recursive ?? false,
      clock,
      limits,
      onChanged: (changes) => connection.notify('fs/changed', encodeChanges(watchId, changes)),
    });
    return {};
  } catch (error) {
    if (error instanceof OsError) throw osErrorToRpc(error);
    throw error instanceof WatchError ? invalidRequest(error.message) : error;
  }
}

export function unwatchPath({ watchId }: FsUnwatchParams, { connection }: HandlerContext): FsEmptyResult {
  connection.keep(FileWatches).remove(watchId);
  return {};
}

function encodeChanges(watchId: string, changes: readonly FileChange[]): FsChangedNotification {
  return {
    watchId,
    changes: changes.map(({ path, kind }) => ({ path: nativeToPathUri(toPathBytes(path)), kind })),
  };
}
