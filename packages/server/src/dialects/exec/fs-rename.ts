import type { FsEmptyResult, FsRenameParams } from '@exec-server/protocol';
import * as room from '../../fs/rename.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function renamePath(params: FsRenameParams): Promise<FsEmptyResult> {
  await answerFor(room.renamePath(toNativePath(params.sourcePath), toNativePath(params.destinationPath)));
  return {};
}
