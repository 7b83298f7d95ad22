import { type app, invalidRequest, nativePathText } from '@exec-server/protocol';
import { toPathBytes } from '../../fs/watch/byte-path.js';
import type { FileChange } from '../../fs/watch/change-queue.js';
import { FileWatches } from '../../fs/watch/file-watches.js';
import type { HandlerContext } from '../dialect.js';
import { answerFor, toPath } from './fs-common.js';

/** From the first change to the notification, in milliseconds. */
const WATCH_WINDOW_MS = 200;
/** Longest id of a watch, in bytes. */
export const MAX_APP_WATCH_ID_BYTES = 1024;

/** Watches a file, or a directory and what is directly in it. */
export async function watchPath(
  params: app.FsWatchParams,
  { engine: { clock, limits }, connection }: HandlerContext,
): Promise<app.FsWatchResult> {
  const { watchId } = params;
  const path = toPath(params.path);
  const watches = connection.keep(FileWatches);
  if (Buffer.byteLength(watchId) > MAX_APP_WATCH_ID_BYTES)
    throw invalidRequest(`watchId must not exceed ${MAX_APP_WATCH_ID_BYTES} bytes`);
  if (watches.has(watchId)) throw invalidRequest(`watchId already exists: ${watchId}`);
  await answerFor(
    watches.add({
      id: watchId,
      path,
      recursive: false,
      mayBeMissing: true,
      gatherMs: WATCH_WINDOW_MS,
      keepsBelow: true,
      clock,
      limits,
      onChanged: (changes) => connection.notify('fs/changed', encodeChanges(watchId, changes)),
    }),
  );
  return { path: nativePathText(path) };
}

export function unwatchPath(
  { watchId }: app.FsUnwatchParams,
  { connection }: HandlerContext,
): Record<string, never> {
  connection.keep(FileWatches).remove(watchId);
  return {};
}

/** What happened to a file is not told, so an overflow reads as a change of the watched path. */
function encodeChanges(watchId: string, changes: readonly FileChange[]): app.FsChangedNotification {
  const paths = changes.map(({ path }) => path).sort();
  return { watchId, changedPaths: paths.map((path) => nativePathText(toPathBytes(path))) };
}
