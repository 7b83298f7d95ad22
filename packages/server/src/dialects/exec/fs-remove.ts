import type { FsEmptyResult, FsRemoveParams } from '@exec-server/protocol';
import * as room from '../../fs/remove.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function removePath(params: FsRemoveParams): Promise<FsEmptyResult> {
  const { recursive, force, followSymlinks } = params;
  const options = {
    recursive: recursive ?? true,
    force: force ?? true,
    followSymlinks: followSymlinks ?? true,
  };
  await answerFor(room.removePath(toNativePath(params.path), options));
  return {};
}
