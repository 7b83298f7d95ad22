import type { FsCopyParams, FsEmptyResult } from '@exec-server/protocol';
import * as room from '../../fs/copy.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function copyPath(params: FsCopyParams): Promise<FsEmptyResult> {
  const [source, destination] = [toNativePath(params.sourcePath), toNativePath(params.destinationPath)];
  await answerFor(room.copyPath(source, destination, { recursive: params.recursive }));
  return {};
}
