import type * as z from 'zod/mini';
import { base64, describe, flag, integer, list, oneOf, pathUri, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';
import { SandboxContext } from './sandbox.js';

const sandbox = nullable(describe(SandboxContext, 'What the operation may touch.'));
const followSymlinks = nullable(
  flag('Follow symbolic links; false refuses one in any component. Default: true.'),
  { omittable: true },
);
const handleId = text('Key of the handle, chosen by the client, at most 32 bytes, unique on its connection.');
const offset = integer('u64', 'Position in the file, in bytes.');

export const FsReadFileParams = struct('WireFsReadFileParams', {
  path: pathUri('File to read.'),
  followSymlinks,
  sandbox,
});
export type FsReadFileParams = z.output<typeof FsReadFileParams>;

export const FsReadFileResult = struct('FsReadFileResponse', { dataBase64: base64('The whole file.') });
export type FsReadFileResult = z.output<typeof FsReadFileResult>;

/** `dataBase64` is checked by the handler, which answers with a code and a text of its own. */
export const FsWriteFileParams = struct(
  'WireFsWriteFileParams',
  {
    path: pathUri('File to create or to replace.'),
    dataBase64: text('Its new content as base64.'),
    followSymlinks,
    sandbox,
  },
  {
    extensions: {
      atomic: nullable(
        flag(
          'Replace the file in one step that survives a crash, keeping its mode; a link stays and its target is ' +
            'replaced. Capability `fsAtomicWrite`. Default: false.',
        ),
      ),
    },
  },
);
export type FsWriteFileParams = z.output<typeof FsWriteFileParams>;

export const FsOpenParams = struct(
  'WireFsOpenParams',
  {
    handleId,
    path: pathUri('File to open.'),
    mode: defaulted(
      oneOf(['read', 'replace'], '`replace` creates or truncates, for writing. Default: `read`.'),
    ),
    sandbox,
  },
  {
    extensions: {
      keep: defaulted(
        flag(
          'Keep the handle when the connection is lost, as long as the session. Capability `fsResumableStreams`. ' +
            'Default: false.',
        ),
      ),
      identify: defaulted(flag('Answer with `identity`. Capability `fsResumableStreams`. Default: false.')),
    },
  },
);
export type FsOpenParams = z.output<typeof FsOpenParams>;

export const FsOpenResult = struct(
  'FsOpenResponse',
  { handleId: text('The key, as given.') },
  {
    extensions: {
      identity: defaulted(
        text(
          'The same for the same file as long as its content has not changed: its device and number, its size, and ' +
            'when it was modified. Only with `identify`.',
        ),
      ),
    },
  },
);
export type FsOpenResult = z.output<typeof FsOpenResult>;

export const FsReadBlockParams = struct('FsReadBlockParams', {
  handleId,
  offset,
  len: integer('usize', 'How many bytes, 1 to 1048576.'),
});
export type FsReadBlockParams = z.output<typeof FsReadBlockParams>;

export const FsReadBlockResult = struct('FsReadBlockResponse', {
  chunk: base64('The bytes.'),
  eof: flag('Fewer bytes than asked for were left.'),
});
export type FsReadBlockResult = z.output<typeof FsReadBlockResult>;

export const FsWriteBlockParams = struct('FsWriteBlockParams', {
  handleId,
  offset,
  chunk: base64('The bytes, 1 to 1048576.'),
});
export type FsWriteBlockParams = z.output<typeof FsWriteBlockParams>;

export const FsCloseParams = struct('FsCloseParams', { handleId });
export type FsCloseParams = z.output<typeof FsCloseParams>;

export const FsCreateDirectoryParams = struct('WireFsCreateDirectoryParams', {
  path: pathUri('Directory to create.'),
  recursive: nullable(flag('Create its parents; an existing directory is fine. Default: true.')),
  followSymlinks,
  sandbox,
});
export type FsCreateDirectoryParams = z.output<typeof FsCreateDirectoryParams>;

export const FsGetMetadataParams = struct(
  'WireFsGetMetadataParams',
  { path: pathUri('Path to look at.'), followSymlinks, sandbox },
  {
    extensions: {
      describeLink: nullable(
        flag(
          'Describe a symbolic link at the end of the path itself, not what it leads to. Capability `fsLinks`. ' +
            'Default: false.',
        ),
      ),
      full: nullable(
        flag(
          'Also tell `mode`, and when a file was created that links were followed to. Capability `fsFullMetadata`. ' +
            'Default: false.',
        ),
      ),
    },
  },
);
export type FsGetMetadataParams = z.output<typeof FsGetMetadataParams>;

export const FsGetMetadataResult = struct(
  'FsGetMetadataResponse',
  {
    isDirectory: flag('It is a directory.'),
    isFile: flag('It is a regular file.'),
    isSymlink: flag('The path itself is a symbolic link.'),
    size: integer('u64', 'Size in bytes.'),
    createdAtMs: integer('i64', 'When it was created, in milliseconds since 1970; 0 if unknown.'),
    modifiedAtMs: integer('i64', 'When it was modified last, in milliseconds since 1970; 0 if unknown.'),
  },
  {
    extensions: {
      mode: defaulted(integer('u16', 'Permission bits, 0 to 4095 (octal 7777). Only with `full`.')),
    },
  },
);
export type FsGetMetadataResult = z.output<typeof FsGetMetadataResult>;

export const FsCanonicalizeParams = struct('WireFsCanonicalizeParams', {
  path: pathUri('Path to resolve.'),
  sandbox,
});
export type FsCanonicalizeParams = z.output<typeof FsCanonicalizeParams>;

export const FsCanonicalizeResult = struct('FsCanonicalizeResponse', {
  path: pathUri('The same without symbolic links.'),
});
export type FsCanonicalizeResult = z.output<typeof FsCanonicalizeResult>;

export const FsReadDirectoryParams = struct(
  'WireFsReadDirectoryParams',
  { path: pathUri('Directory to list.'), sandbox },
  {
    extensions: {
      includeBroken: nullable(
        flag(
          'List links that lead nowhere, too, and mark all links. Capability `fsListBroken`. Default: false.',
        ),
      ),
    },
  },
);
export type FsReadDirectoryParams = z.output<typeof FsReadDirectoryParams>;

export const DirectoryEntry = struct(
  'FsReadDirectoryEntry',
  {
    fileName: text('Name; bytes that are no UTF-8 are replaced.'),
    isDirectory: flag('It is, or links to, a directory.'),
    isFile: flag('It is, or links to, a regular file.'),
  },
  { extensions: { isSymlink: defaulted(flag('It is a symbolic link. Only with `includeBroken`.')) } },
);
export type DirectoryEntry = z.output<typeof DirectoryEntry>;

export const FsReadDirectoryResult = struct('FsReadDirectoryResponse', {
  entries: list(
    DirectoryEntry,
    'In the order of the file system; broken links are left out unless asked for.',
  ),
});
export type FsReadDirectoryResult = z.output<typeof FsReadDirectoryResult>;

export const WalkOptions = struct('WalkOptions', {
  maxDepth: integer('usize', 'Levels below the root, at most 64; 0 lists only its children.'),
  maxDirectories: integer('usize', 'Directories to enter, 1 to 10000.'),
  maxEntries: integer('usize', 'Names to examine, 1 to 50000.'),
  followDirectorySymlinks: flag('Enter directories through symbolic links.'),
  pruneHiddenDirectories: defaulted(flag('List hidden directories without entering them. Default: false.')),
});
export type WalkOptions = z.output<typeof WalkOptions>;

export const FsWalkParams = struct('WireFsWalkParams', {
  path: pathUri('Directory to start at.'),
  options: describe(WalkOptions, 'How far to go.'),
  sandbox,
});
export type FsWalkParams = z.output<typeof FsWalkParams>;

export const WalkEntry = struct('WalkEntry', {
  path: pathUri('Path of the entry.'),
  kind: oneOf(['directory', 'file'], 'What it is.'),
});
export type WalkEntry = z.output<typeof WalkEntry>;

export const WalkError = struct('WalkError', {
  path: pathUri('Path that could not be read.'),
  message: text('Why.'),
});
export type WalkError = z.output<typeof WalkError>;

export const FsWalkResult = struct('WalkOutcome', {
  entries: list(WalkEntry, 'Breadth first, names sorted by bytes inside each directory.'),
  errors: list(WalkError, 'What could not be read.'),
  truncated: flag('A limit was reached.'),
});
export type FsWalkResult = z.output<typeof FsWalkResult>;

export const FsRemoveParams = struct('WireFsRemoveParams', {
  path: pathUri('Path to remove; a symbolic link is removed itself.'),
  recursive: nullable(flag('Remove what is inside, too. Default: true.')),
  force: nullable(flag('A path that does not exist is fine. Default: true.')),
  followSymlinks,
  sandbox,
});
export type FsRemoveParams = z.output<typeof FsRemoveParams>;

export const FsCopyParams = struct('WireFsCopyParams', {
  sourcePath: pathUri('What to copy.'),
  destinationPath: pathUri('Where to.'),
  recursive: flag('Needed for directories.'),
  sandbox,
});
export type FsCopyParams = z.output<typeof FsCopyParams>;

export const FsRenameParams = struct('FsRenameParams', {
  sourcePath: pathUri('What to rename; a symbolic link is renamed itself.'),
  destinationPath: pathUri('Its new path, on the same file system; a file there is replaced.'),
  sandbox,
});
export type FsRenameParams = z.output<typeof FsRenameParams>;

export const FsSetModeParams = struct('FsSetModeParams', {
  path: pathUri('File or directory.'),
  mode: integer('u16', 'Permission bits, 0 to 4095 (octal 7777).'),
  followSymlinks,
  sandbox,
});
export type FsSetModeParams = z.output<typeof FsSetModeParams>;

export const FsReadLinkParams = struct('FsReadLinkParams', {
  path: pathUri('Symbolic link to read.'),
  sandbox,
});
export type FsReadLinkParams = z.output<typeof FsReadLinkParams>;

export const FsReadLinkResult = struct('FsReadLinkResponse', {
  target: text('What the link says: a native path, absolute or relative to the directory of the link.'),
});
export type FsReadLinkResult = z.output<typeof FsReadLinkResult>;

export const FsSymlinkParams = struct('FsSymlinkParams', {
  path: pathUri('Where the link is made; nothing may be there.'),
  target: text('What it says: a native path, absolute or relative to the directory of the link.'),
  sandbox,
});
export type FsSymlinkParams = z.output<typeof FsSymlinkParams>;

export const FsWatchMissingParams = struct('FsWatchMissingParams', {
  watchId: integer('u64', 'Number of the watch; a greater one replaces the last, any other is refused.'),
  missing: list(pathUri(), 'Paths that do not exist, at most 64.'),
  present: nullable(pathUri('File that exists and whose change counts, too.')),
});
export type FsWatchMissingParams = z.output<typeof FsWatchMissingParams>;

export const FsWatchMissingResult = struct('FsWatchMissingResponse', {
  watching: flag('The watch is set.'),
});
export type FsWatchMissingResult = z.output<typeof FsWatchMissingResult>;

export const FsMissingChangedNotification = struct('FsMissingChangedNotification', {
  watchId: integer('u64', 'The watch, which is over with this.'),
});
export type FsMissingChangedNotification = z.output<typeof FsMissingChangedNotification>;

/** The answer of operations that have nothing to say. */
export const FsEmptyResult = struct('FsEmptyResponse', {});
export type FsEmptyResult = z.output<typeof FsEmptyResult>;
