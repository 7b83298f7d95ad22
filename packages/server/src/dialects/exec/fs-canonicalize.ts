import { type FsCanonicalizeParams, type FsCanonicalizeResult, nativeToPathUri } from '@exec-server/protocol';
import * as room from '../../fs/canonicalize.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function canonicalizePath(params: FsCanonicalizeParams): Promise<FsCanonicalizeResult> {
  const path = await answerFor(room.canonicalizePath(toNativePath(params.path)));
  return { path: nativeToPathUri(path) };
}
