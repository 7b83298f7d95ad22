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
import { toBuffer } from '../file-content.js';
import { findFileLimits } from './confined/file-limits.js';
import { explainSandbox } from './confined/run-confined.js';
import { answerFor, toNativePath } from './fs-common.js';

export async function openFile(params: FsOpenParams, context: HandlerContext): Promise<FsOpenResult> {
  const { handleId, keep = false, identify = false } = params;
  const own = context.connection.keep(FileHandles);
  const { files: kept } = context.session;
  const [handles, others] = keep ? [kept, own] : [own, kept];
  // The id is looked at first: one that is taken must not cost the file its content.
  const opening = handles.open(handleId, async () => {
    others.refuseTaken(handleId);
    return open(params, context);
  });
  const { identity } = await answer(opening);
  return { handleId, ...(identify && { identity }) };
}

/** Where the file of an id is open; where none is, it makes no difference. */
function findHandles(handleId: string, { connection, session }: HandlerContext): FileHandles {
  return session.files.has(handleId) ? session.files : connection.keep(FileHandles);
}

async function open(
  { path: uri, mode = 'read', sandbox }: FsOpenParams,
  { engine, session, requestId, signal }: HandlerContext,
): Promise<HandleFile> {
  const limits = findFileLimits(sandbox, mode === 'read' ? 'reads' : 'changes', engine);
  const files = limits instanceof Promise ? await limits : limits;
  const path = toNativePath(uri);
  if (files === undefined) return OpenFile.open(path, mode);
  const use = { principal: session.principal, requestId, signal };
  return explainSandbox(engine.fileSandboxes.openFile(files, path, mode, use));
}

export async function readBlock(
  { handleId, offset, len }: FsReadBlockParams,
  context: HandlerContext,
): Promise<FsReadBlockResult> {
  const block = await answer(findHandles(handleId, context).read(handleId, offset, len));
  return { chunk: block.toString('base64'), eof: block.length < len };
}

export async function writeBlock(
  { handleId, offset, chunk }: FsWriteBlockParams,
  context: HandlerContext,
): Promise<FsEmptyResult> {
  const bytes = toBuffer(context.content) ?? Buffer.from(chunk, 'base64');
  await answer(findHandles(handleId, context).write(handleId, offset, bytes));
  return {};
}

export async function closeFile(
  { handleId }: FsCloseParams,
  context: HandlerContext,
): Promise<FsEmptyResult> {
  await findHandles(handleId, context).release(handleId);
  return {};
}

async function answer<T>(operation: Promise<T>): Promise<T> {
  try {
    return await answerFor(operation);
  } catch (error) {
    throw error instanceof UnknownHandleError ? notFound(error.message, 'handle_unknown') : error;
  }
}
