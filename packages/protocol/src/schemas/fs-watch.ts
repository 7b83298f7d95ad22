import type * as z from 'zod/mini';
import { describe, flag, list, oneOf, pathUri, text } from '../fields.js';
import { nullable, struct } from '../struct.js';
import { SandboxContext } from './sandbox.js';

const watchId = text('Key of the watch, chosen by the client, at most 64 bytes, unique on its connection.');

/** `fs/watch`, `fs/unwatch` and `fs/changed` are ours: the reference does not know them. */
export const FsWatchParams = struct('FsWatchParams', {
  watchId,
  path: pathUri('File or directory to watch; it must exist. Symbolic links on the way are followed.'),
  recursive: nullable(flag('Watch the directories below, too. Default: false.'), { omittable: true }),
  sandbox: nullable(describe(SandboxContext, 'What the operation may touch.'), { omittable: true }),
});
export type FsWatchParams = z.output<typeof FsWatchParams>;

export const FsUnwatchParams = struct('FsUnwatchParams', { watchId });
export type FsUnwatchParams = z.output<typeof FsUnwatchParams>;

export const FsChange = struct('FsChange', {
  path: pathUri('What changed, spelled as the watched path and what is below it.'),
  kind: oneOf(
    ['created', 'modified', 'removed', 'overflow'],
    '`created`: something new is there; nothing known of the path, or of paths below it, holds any more. ' +
      '`modified`: content or attributes changed. `removed`: nothing is there, or below. ' +
      '`overflow`: anything may have happened, here or below; list and read again.',
  ),
});
export type FsChange = z.output<typeof FsChange>;

export const FsChangedNotification = struct('FsChangedNotification', {
  watchId,
  changes: list(FsChange, 'At most 512, in an order in which they can be applied; each path at most once.'),
});
export type FsChangedNotification = z.output<typeof FsChangedNotification>;
