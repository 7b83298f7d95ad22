import {
  type FsCloseParams,
  type FsEmptyResult,
  type FsOpenParams,
  type FsOpenResult,
  type FsReadBlockParams,
  type FsReadBlockResult,
  type FsWriteBlockParams,
  notFound,
} from '@exec-server/protocol';
import { FileHandles, UnknownHandleError } from '../../fs/handles.js';
import { OpenFile } from '../../fs/handles-file.js';
import type { HandlerContext } from '../dialect.js';
import { answerFor, refuseFileRestriction, toNativePath } from './fs-common.js';

export async function openFile(
  { handleId, path, mode = 'read', sandbox }: FsOpenParams,
  { connection }: HandlerContext,
): Promise<FsOpenResult> {
  // The id is looked at first: one that is taken must not cost the file its content.
  const open = async () => {
    refuseFileRestriction(sandbox);
    return OpenFile.open(toNativePath(path), mode);
  };
  await answer(connection.keep(FileHandles).open(handleId, open));
  return { handleId };
}

export async function readBlock(
  { handleId, offset, len }: FsReadBlockParams,
  { connection }: HandlerContext,
): Promise<FsReadBlockResult> {
  const block = await answer(connection.keep(FileHandles).read(handleId, offset, len));
  return { chunk: block.toString('base64'), eof: block.length < len };
}

export async function writeBlock(
  { handleId, offset, chunk }: FsWriteBlockParams,
  { connection }: HandlerContext,
): Promise<FsEmptyResult> {
  await answer(connection.keep(FileHandles).write(handleId, offset, Buffer.from(chunk, 'base64')));
  return {};
}

export async function closeFile(
  { handleId }: FsCloseParams,
  { connection }: HandlerContext,
): Promise<FsEmptyResult> {
  await connection.keep(FileHandles).release(handleId);
  return {};
}

async function answer<T>(operation: Promise<T>): Promise<T> {
  try {
    return await answerFor(operation);
  } catch (error) {
    throw error instanceof UnknownHandleError ? notFound(error.message) : error;
  }
}
