import type { FsEmptyResult, FsWriteFileParams } from '@exec-server/protocol';
import { replaceFile } from '../../fs/replace-file.js';
import * as room from '../../fs/write-file.js';
import type { HandlerContext } from '../dialect.js';
import { withContent } from '../file-content.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function writeFile(
  params: FsWriteFileParams,
  { content }: Partial<Pick<HandlerContext, 'content'>>,
): Promise<FsEmptyResult> {
  const write = params.atomic ? replaceFile : room.writeFile;
  const options = { followSymlinks: params.followSymlinks ?? true };
  await withContent(content, params.dataBase64, (data) =>
    answerFor(write(toNativePath(params.path), data, options)),
  );
  return {};
}
