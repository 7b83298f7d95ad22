import {
  type FsChangedNotification,
  type FsEmptyResult,
  type FsUnwatchParams,
  type FsWatchParams,
  invalidRequest,
  MAX_WATCH_ID_BYTES,
  nativeToPathUri,
} from '@exec-server/protocol';
import { toPathBytes } from '../../fs/watch/byte-path.js';
import type { FileChange } from '../../fs/watch/change-queue.js';
import { FileWatches } from '../../fs/watch/file-watches.js';
import { allowsAllReads } from '../../sandbox/policy/policy.js';
import { unenforceable } from '../../sandbox/policy/policy-error.js';
import type { HandlerContext } from '../dialect.js';
import { findFileLimits, policyErrorToRpc } from './confined/file-limits.js';
import { hideFromWatches } from './confined/hide-from-watches.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function watchPath(
  { watchId, path, recursive, sandbox }: FsWatchParams,
  { engine, connection }: HandlerContext,
): Promise<FsEmptyResult> {
  const limited = findFileLimits(sandbox, 'reads', engine);
  // Without a pause where there is nothing to wait for: what is to end the watch may be behind it.
  const files = limited instanceof Promise ? await limited : limited;
  // A watch outlasts any sandbox, which goes stale with what it is about.
  if (files !== undefined && !allowsAllReads(files))
    throw policyErrorToRpc(unenforceable('files can only be watched where everything may be read'));
  const { clock, limits } = engine;
  const request = {
    id: watchId,
    path: toNativePath(path),
    recursive: recursive ?? false,
    isHidden: files === undefined ? undefined : await hideFromWatches(files),
    clock,
    limits,
    onChanged: (changes: readonly FileChange[]) =>
      connection.notify('fs/changed', encodeChanges(watchId, changes)),
  };
  if (Buffer.byteLength(watchId) > MAX_WATCH_ID_BYTES)
    throw invalidRequest(`watch ID must not exceed ${MAX_WATCH_ID_BYTES} bytes`);
  await answerFor(connection.keep(FileWatches).add(request));
  return {};
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
