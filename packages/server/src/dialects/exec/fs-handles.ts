import {
  type FsCloseParams,
  type FsEmptyResult,
  type FsOpenParams,
  type FsOpenResult,
  type FsReadBlockParams,
  type FsReadBlockResult,
  type FsWriteBlockParams,
  invalidRequest,
  notFound,
} from '@exec-server/protocol';
import { FileHandleError, FileHandles } from '../../fs/handles.js';
import { NotAFileError, OpenFile } from '../../fs/handles-file.js';
import { OsError } from '../../os-error.js';
import type { HandlerContext } from '../dialect.js';
import { osErrorToRpc, refuseFileRestriction, toNativePath } from './fs-common.js';

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
    return await operation;
  } catch (error) {
    if (error instanceof OsError) throw osErrorToRpc(error);
    if (error instanceof NotAFileError) throw invalidRequest(error.message);
    if (!(error instanceof FileHandleError)) throw error;
    throw error.failure === 'unknown' ? notFound(error.message) : invalidRequest(error.message);
  }
}
