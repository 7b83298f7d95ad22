import { type FsWatchMissingParams, type FsWatchMissingResult, RpcError } from '@exec-server/protocol';
import { type Assumption, MissingWatch } from '../../fs/watch/missing-watch.js';
import type { HandlerContext } from '../dialect.js';
import { toNativePath } from './fs-common.js';

export async function watchMissing(
  params: FsWatchMissingParams,
  { connection }: HandlerContext,
): Promise<FsWatchMissingResult> {
  const { watchId } = params;
  const watch = connection.keep(MissingWatch);
  const onBroken = () => connection.notify('fs/missingChanged', { watchId });
  return { watching: await watch.replace(watchId, toAssumption(params), onBroken) };
}

/** Nothing where a path belongs to another kind of host: this one cannot tell anything about it. */
function toAssumption({ missing, present }: FsWatchMissingParams): Assumption | undefined {
  try {
    return {
      missing: missing.map(toNativePath),
      present: present === undefined ? undefined : toNativePath(present),
    };
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}
