import type { FsGetMetadataParams, FsGetMetadataResult } from '@exec-server/protocol';
import { readMetadata } from '../../fs/metadata.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function getMetadata(params: FsGetMetadataParams): Promise<FsGetMetadataResult> {
  const full = await answerFor(
    readMetadata(toNativePath(params.path), {
      followSymlinks: params.followSymlinks ?? true,
      describeLink: params.describeLink ?? false,
    }),
  );
  if (params.full) return full;
  const { mode: _, ...metadata } = full;
  // The reference tells no time of creation where links are followed.
  return params.followSymlinks === false ? metadata : { ...metadata, createdAtMs: 0 };
}
