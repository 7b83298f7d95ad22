import type { FsReadFileParams } from '@exec-server/protocol';
import type { EncodedResponse, HandlerContext } from '../dialect.js';
import { encodeContent } from '../file-content.js';
import { answerFor, refuseFileRestriction, toNativePath } from './fs-common.js';

export async function readFile(params: FsReadFileParams, context: HandlerContext): Promise<EncodedResponse> {
  refuseFileRestriction(params.sandbox);
  const followSymlinks = params.followSymlinks ?? true;
  return answerFor(encodeContent(toNativePath(params.path), { followSymlinks }, context));
}
