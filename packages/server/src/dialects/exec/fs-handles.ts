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
import { FileHandles, type HandleFile, UnknownHandleError } from '../../fs/handles.js';
import { OpenFile } from '../../fs/handles-file.js';
import type { HandlerContext } from '../dialect.js';
import { findFileLimits } from './confined/file-limits.js';
import { explainSandbox } from './confined/run-confined.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function openFile(params: FsOpenParams, context: HandlerContext): Promise<FsOpenResult> {
  const { handleId } = params;
  // The id is looked at first: one that is taken must not cost the file its content.
  await answer(context.connection.keep(FileHandles).open(handleId, () => open(params, context)));
  return { handleId };
}

async function open(
  { path: uri, mode = 'read', sandbox }: FsOpenParams,
  { engine, requestId, signal }: HandlerContext,
): Promise<HandleFile> {
  const files = findFileLimits(sandbox, mode === 'read' ? 'reads' : 'changes', engine);
  const path = toNativePath(uri);
  if (files === undefined) return OpenFile.open(path, mode);
  return explainSandbox(engine.fileSandboxes.openFile(files, path, mode, { requestId, signal }));
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
  { connection, content }: HandlerContext,
): Promise<FsEmptyResult> {
  const bytes =
    content === undefined
      ? Buffer.from(chunk, 'base64')
      : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  await answer(connection.keep(FileHandles).write(handleId, offset, bytes));
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
