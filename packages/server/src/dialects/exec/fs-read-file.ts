import type { FsReadFileParams } from '@exec-server/protocol';
import type { EncodedResponse, HandlerContext } from '../dialect.js';
import { type ContentContext, encodeContent, LargeReads } from '../file-content.js';
import { answerFor, toNativePath } from './fs-common.js';

export function readFile(params: FsReadFileParams, context: HandlerContext): Promise<EncodedResponse> {
  return readWholeFile(params, { ...context, largeReads: context.connection.keep(LargeReads) });
}

/** The same for whoever is no connection. */
export async function readWholeFile(
  { path, followSymlinks }: FsReadFileParams,
  context: ContentContext,
): Promise<EncodedResponse> {
  return answerFor(encodeContent(toNativePath(path), { followSymlinks: followSymlinks ?? true }, context));
}
