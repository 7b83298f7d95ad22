import { type FsEmptyResult, type FsSetModeParams, invalidParams } from '@exec-server/protocol';
import * as room from '../../fs/set-mode.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function setMode(params: FsSetModeParams): Promise<FsEmptyResult> {
  if (params.mode > room.MAX_MODE) throw invalidParams(`mode must not exceed ${room.MAX_MODE}`);
  const followSymlinks = params.followSymlinks ?? true;
  await answerFor(room.setMode(toNativePath(params.path), params.mode, { followSymlinks }));
  return {};
}
