import type { FsGetMetadataParams, FsGetMetadataResult } from '@exec-server/protocol';
import { type MetadataOptions, readMetadata } from '../../fs/metadata.js';
import { answerFor, toNativePath } from './fs-common.js';

/** @param findCached for the server; helpers in a sandbox are without native code */
export async function getMetadata(
  params: FsGetMetadataParams,
  findCached?: MetadataOptions['findCached'],
): Promise<FsGetMetadataResult> {
  const full = await answerFor(
    readMetadata(toNativePath(params.path), {
      followSymlinks: params.followSymlinks ?? true,
      describeLink: params.describeLink ?? false,
      findCached,
    }),
  );
  if (params.full) return full;
  const { mode: _, ...metadata } = full;
  // The reference tells no time of creation where links are followed.
  return params.followSymlinks === false ? metadata : { ...metadata, createdAtMs: 0 };
}
