import type { FsGetMetadataParams, FsGetMetadataResult } from '@exec-server/protocol';
import { readMetadata } from '../../fs/metadata.js';
import { answerFor, refuseFileRestriction, toNativePath } from './fs-common.js';

export async function getMetadata(params: FsGetMetadataParams): Promise<FsGetMetadataResult> {
  refuseFileRestriction(params.sandbox);
  const followSymlinks = params.followSymlinks ?? true;
  return answerFor(readMetadata(toNativePath(params.path), { followSymlinks }));
}
