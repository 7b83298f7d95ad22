import type { FsEmptyResult, FsWriteFileParams } from '@exec-server/protocol';
import { replaceFile } from '../../fs/replace-file.js';
import * as room from '../../fs/write-file.js';
import type { HandlerContext } from '../dialect.js';
import { decodeContent } from '../file-content.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function writeFile(
  params: FsWriteFileParams,
  { content }: Partial<Pick<HandlerContext, 'content'>>,
): Promise<FsEmptyResult> {
  const data = content ?? decodeContent(params.dataBase64);
  const write = params.atomic ? replaceFile : room.writeFile;
  await answerFor(write(toNativePath(params.path), data, { followSymlinks: params.followSymlinks ?? true }));
  return {};
}
