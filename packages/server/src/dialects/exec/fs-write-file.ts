import {
  checkBase64,
  type FsEmptyResult,
  type FsWriteFileParams,
  invalidRequest,
} from '@exec-server/protocol';
import { replaceFile } from '../../fs/replace-file.js';
import * as room from '../../fs/write-file.js';
import { answerFor, refuseFileRestriction, toNativePath } from './fs-common.js';

export async function writeFile(params: FsWriteFileParams): Promise<FsEmptyResult> {
  const invalid = checkBase64(params.dataBase64);
  if (invalid !== undefined)
    throw invalidRequest(`fs/writeFile requires valid base64 dataBase64: ${invalid}`);
  refuseFileRestriction(params.sandbox);
  const path = toNativePath(params.path);
  const data = Buffer.from(params.dataBase64, 'base64');
  const write = params.atomic ? replaceFile : room.writeFile;
  await answerFor(write(path, data, { followSymlinks: params.followSymlinks ?? true }));
  return {};
}
