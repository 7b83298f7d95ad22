import type * as z from 'zod/mini';
import { base64, flag, list, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';
import { absolutePath, integer } from './fields.js';

const path = absolutePath('Native path that begins at the root; `.` and `..` are resolved by their text.');

export const FsReadFileParams = struct('FsReadFileParams', { path });
export type FsReadFileParams = z.output<typeof FsReadFileParams>;

export const FsReadFileResult = struct('FsReadFileResult', { dataBase64: base64('The whole content.') });
export type FsReadFileResult = z.output<typeof FsReadFileResult>;

export const FsWriteFileParams = struct('FsWriteFileParams', {
  path,
  dataBase64: text('The whole content, as base64. The directory must exist.'),
});
export type FsWriteFileParams = z.output<typeof FsWriteFileParams>;

export const FsCreateDirectoryParams = struct('FsCreateDirectoryParams', {
  path,
  recursive: nullable(
    flag('Create missing parents as well; a directory that exists is fine then. Default: true.'),
  ),
});
export type FsCreateDirectoryParams = z.output<typeof FsCreateDirectoryParams>;

export const FsGetMetadataParams = struct('FsGetMetadataParams', { path });
export type FsGetMetadataParams = z.output<typeof FsGetMetadataParams>;

export const FsGetMetadataResult = struct('FsGetMetadataResult', {
  isDirectory: flag('What the path leads to is a directory.'),
  isFile: flag('What the path leads to is a regular file.'),
  isSymlink: flag('The path itself is a symbolic link.'),
  createdAtMs: integer('i64', 'Milliseconds since 1970, 0 if unknown.'),
  modifiedAtMs: integer('i64', 'Milliseconds since 1970, 0 if unknown.'),
});
export type FsGetMetadataResult = z.output<typeof FsGetMetadataResult>;

export const FsReadDirectoryParams = struct('FsReadDirectoryParams', { path });
export type FsReadDirectoryParams = z.output<typeof FsReadDirectoryParams>;

export const FsReadDirectoryEntry = struct('FsReadDirectoryEntry', {
  fileName: text('Name in the directory, not a path.'),
  isDirectory: flag('Links are followed.'),
  isFile: flag('Links are followed.'),
});
export type FsReadDirectoryEntry = z.output<typeof FsReadDirectoryEntry>;

export const FsReadDirectoryResult = struct('FsReadDirectoryResult', {
  entries: list(FsReadDirectoryEntry, 'In no order; links that lead nowhere are left out.'),
});
export type FsReadDirectoryResult = z.output<typeof FsReadDirectoryResult>;

export const FsRemoveParams = struct('FsRemoveParams', {
  path,
  recursive: nullable(flag('Remove what is in a directory, too. Default: true.')),
  force: nullable(flag('What does not exist counts as removed. Default: true.')),
});
export type FsRemoveParams = z.output<typeof FsRemoveParams>;

export const FsCopyParams = struct('FsCopyParams', {
  sourcePath: path,
  destinationPath: path,
  recursive: defaulted(flag('Needed for directories. Default: false.')),
});
export type FsCopyParams = z.output<typeof FsCopyParams>;

const watchId = text('Key of the watch, chosen by the client, unique on its connection.');

export const FsWatchParams = struct('FsWatchParams', {
  watchId,
  path: absolutePath('File or directory to watch, not what is further below. It need not exist.'),
});
export type FsWatchParams = z.output<typeof FsWatchParams>;

export const FsWatchResult = struct('FsWatchResult', { path });
export type FsWatchResult = z.output<typeof FsWatchResult>;

export const FsUnwatchParams = struct('FsUnwatchParams', { watchId });
export type FsUnwatchParams = z.output<typeof FsUnwatchParams>;

export const FsChangedNotification = struct('FsChangedNotification', {
  watchId,
  changedPaths: list(text(), 'What was created, changed or removed, sorted, each once.'),
});
export type FsChangedNotification = z.output<typeof FsChangedNotification>;
