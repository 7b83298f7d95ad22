import type {
  FsEmptyResult,
  FsReadLinkParams,
  FsReadLinkResult,
  FsSymlinkParams,
} from '@exec-server/protocol';
import * as room from '../../fs/links.js';
import { answerFor, refuseFileRestriction, toNativePath } from './fs-common.js';

export async function readLink({ path, sandbox }: FsReadLinkParams): Promise<FsReadLinkResult> {
  refuseFileRestriction(sandbox);
  return { target: await answerFor(room.readLink(toNativePath(path))) };
}

export async function createSymlink({ path, target, sandbox }: FsSymlinkParams): Promise<FsEmptyResult> {
  refuseFileRestriction(sandbox);
  await answerFor(room.createSymlink(toNativePath(path), target));
  return {};
}
