import { type FsGetMetadataParams, type FsSetModeParams, invalidRequest } from '@exec-server/protocol';
import { discoverInstalled, type InstalledPlaces } from '../../../capabilities/discover-installed.js';
import { SET_ID_BITS } from '../../../fs/file-mode.js';
import { FileMethod } from '../../../sandbox/files/frames.js';
import type { ContentContext } from '../../file-content.js';
import { describeRoot } from '../describe-root.js';
import { encodeInstalled } from '../encode-capabilities.js';
import { canonicalizePath } from '../fs-canonicalize.js';
import { copyPath } from '../fs-copy.js';
import { createDirectory } from '../fs-create-directory.js';
import { getMetadata } from '../fs-get-metadata.js';
import { createSymlink, readLink } from '../fs-links.js';
import { readDirectory } from '../fs-read-directory.js';
import { readWholeFile } from '../fs-read-file.js';
import { removePath } from '../fs-remove.js';
import { renamePath } from '../fs-rename.js';
import { setMode } from '../fs-set-mode.js';
import { walkTree } from '../fs-walk.js';
import { writeFile } from '../fs-write-file.js';
import { OpenFiles } from './open-files.js';

const openFiles = new OpenFiles();

/** What a helper does for the server: methods of the wire, whose params the server has checked, and a few of its own. */
export const HELPER_METHODS = {
  'fs/canonicalize': canonicalizePath,
  'fs/copy': copyPath,
  'fs/createDirectory': createDirectory,
  'fs/getMetadata': (params: FsGetMetadataParams) => getMetadata(params),
  'fs/readDirectory': readDirectory,
  'fs/readFile': readWholeFile,
  'fs/readLink': readLink,
  'fs/remove': removePath,
  'fs/rename': renamePath,
  'fs/setMode': setHarmlessMode,
  'fs/symlink': createSymlink,
  'fs/walk': walkTree,
  'fs/writeFile': writeFile,
  'capabilities/root': describeRoot,
  'capabilities/installed': async (places: InstalledPlaces, { signal }: Pick<ContentContext, 'signal'>) =>
    encodeInstalled(await discoverInstalled(places, signal)),
  [FileMethod.open]: openFiles.open.bind(openFiles),
  [FileMethod.read]: openFiles.read.bind(openFiles),
  [FileMethod.write]: openFiles.write.bind(openFiles),
  [FileMethod.close]: openFiles.close.bind(openFiles),
} as const;

export type HelperMethod = keyof typeof HELPER_METHODS;

/** The filter of the sandbox refuses the same, without a reason. */
function setHarmlessMode(params: FsSetModeParams) {
  if ((params.mode & SET_ID_BITS) !== 0)
    throw invalidRequest(
      `mode 0${params.mode.toString(8)} has a set-user-ID or set-group-ID bit, which cannot be set in a sandbox; ` +
        `set mode 0${(params.mode & ~SET_ID_BITS).toString(8)}, or set it without a sandbox`,
    );
  return setMode(params);
}

/** Whether a method of the wire is one that helpers answer as it is. */
export function isHelperMethod(name: string): name is HelperMethod {
  return Object.hasOwn(HELPER_METHODS, name);
}
