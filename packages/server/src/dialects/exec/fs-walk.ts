import { type FsWalkParams, type FsWalkResult, parsePathUri } from '@exec-server/protocol';
import * as room from '../../fs/walk.js';
import type { HandlerContext } from '../dialect.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function walkTree(
  params: FsWalkParams,
  { signal }: Pick<HandlerContext, 'signal'>,
): Promise<FsWalkResult> {
  const root = { path: toNativePath(params.path), uri: parsePathUri(params.path).href };
  const { pruneHiddenDirectories = false, ...limits } = params.options;
  const walk = room.walkTree(root, { ...limits, pruneHiddenDirectories, signal });
  const { entries, failures, truncated } = await answerFor(walk);
  return {
    entries: entries.map(({ uri, kind }) => ({ path: uri, kind })),
    errors: failures.map(({ uri, message }) => ({ path: uri, message })),
    truncated,
  };
}
