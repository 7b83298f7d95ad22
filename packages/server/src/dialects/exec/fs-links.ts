import type {
  FsEmptyResult,
  FsReadLinkParams,
  FsReadLinkResult,
  FsSymlinkParams,
} from '@exec-server/protocol';
import * as room from '../../fs/links.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function readLink({ path }: FsReadLinkParams): Promise<FsReadLinkResult> {
  return { target: await answerFor(room.readLink(toNativePath(path))) };
}

export async function createSymlink({ path, target }: FsSymlinkParams): Promise<FsEmptyResult> {
  await answerFor(room.createSymlink(toNativePath(path), target));
  return {};
}
