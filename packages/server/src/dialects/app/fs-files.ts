import { type app, nativePathText } from '@exec-server/protocol';
import { findCachedEntry } from '../../fs/cached-entry.js';
import * as copies from '../../fs/copy.js';
import * as directories from '../../fs/create-directory.js';
import { readMetadata } from '../../fs/metadata.js';
import * as listings from '../../fs/read-directory.js';
import * as removals from '../../fs/remove.js';
import * as writes from '../../fs/write-file.js';
import type { EncodedResponse, HandlerContext } from '../dialect.js';
import { encodeContent, LargeReads, withContent } from '../file-content.js';
import { answerFor, toPath } from './fs-common.js';

/** This dialect always goes where links lead. */
const FOLLOW = { followSymlinks: true } as const;

type Nothing = Record<string, never>;

export function readFile({ path }: app.FsReadFileParams, context: HandlerContext): Promise<EncodedResponse> {
  const largeReads = context.connection.keep(LargeReads);
  return answerFor(encodeContent(toPath(path), FOLLOW, { ...context, largeReads }));
}

export async function writeFile(
  { path, dataBase64 }: app.FsWriteFileParams,
  { content }: Pick<HandlerContext, 'content'>,
): Promise<Nothing> {
  await withContent(content, dataBase64, (data) => answerFor(writes.writeFile(toPath(path), data, FOLLOW)));
  return {};
}

export async function createDirectory({ path, recursive }: app.FsCreateDirectoryParams): Promise<Nothing> {
  await answerFor(directories.createDirectory(toPath(path), { recursive: recursive ?? true, ...FOLLOW }));
  return {};
}

export async function getMetadata({ path }: app.FsGetMetadataParams): Promise<app.FsGetMetadataResult> {
  const { isDirectory, isFile, isSymlink, modifiedAtMs } = await answerFor(
    readMetadata(toPath(path), { ...FOLLOW, findCached: findCachedEntry }),
  );
  // The reference never tells the time of creation.
  return { isDirectory, isFile, isSymlink, createdAtMs: 0, modifiedAtMs };
}

export async function readDirectory(
  { path }: app.FsReadDirectoryParams,
  { signal }: HandlerContext,
): Promise<app.FsReadDirectoryResult> {
  const entries = await answerFor(listings.readDirectory(toPath(path), { includeBroken: false, signal }));
  return {
    entries: entries.map(({ name, isDirectory, isFile }) => ({
      fileName: nativePathText(name),
      isDirectory,
      isFile,
    })),
  };
}

export async function removePath({ path, recursive, force }: app.FsRemoveParams): Promise<Nothing> {
  const options = { recursive: recursive ?? true, force: force ?? true, ...FOLLOW };
  await answerFor(removals.removePath(toPath(path), options));
  return {};
}

export async function copyPath(params: app.FsCopyParams): Promise<Nothing> {
  const { sourcePath, destinationPath, recursive = false } = params;
  await answerFor(copies.copyPath(toPath(sourcePath), toPath(destinationPath), { recursive }));
  return {};
}
