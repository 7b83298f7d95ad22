import {
  type DirectoryEntry,
  type FsReadDirectoryParams,
  type FsReadDirectoryResult,
  nativePathText,
} from '@exec-server/protocol';
import * as room from '../../fs/read-directory.js';
import type { HandlerContext } from '../dialect.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function readDirectory(
  params: FsReadDirectoryParams,
  { signal }: Pick<HandlerContext, 'signal'>,
): Promise<FsReadDirectoryResult> {
  const includeBroken = params.includeBroken ?? false;
  const entries = await answerFor(room.readDirectory(toNativePath(params.path), { includeBroken, signal }));
  return { entries: entries.map((entry) => encodeEntry(entry, includeBroken)) };
}

function encodeEntry(
  { name, isDirectory, isFile, isSymlink }: room.DirectoryEntry,
  marksLinks: boolean,
): DirectoryEntry {
  const entry = { fileName: nativePathText(name), isDirectory, isFile };
  return marksLinks && isSymlink ? { ...entry, isSymlink } : entry;
}
