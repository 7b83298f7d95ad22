import type { FsCreateDirectoryParams, FsEmptyResult } from '@exec-server/protocol';
import * as room from '../../fs/create-directory.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function createDirectory(params: FsCreateDirectoryParams): Promise<FsEmptyResult> {
  const { recursive, followSymlinks } = params;
  const options = { recursive: recursive ?? true, followSymlinks: followSymlinks ?? true };
  await answerFor(room.createDirectory(toNativePath(params.path), options));
  return {};
}
