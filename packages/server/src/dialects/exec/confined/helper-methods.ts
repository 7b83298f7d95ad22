import type { FsGetMetadataParams } from '@exec-server/protocol';
import { discoverInstalled, type InstalledPlaces } from '../../../capabilities/discover-installed.js';
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
  'fs/setMode': setMode,
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

/** Whether a method of the wire is one that helpers answer as it is. */
export function isHelperMethod(name: string): name is HelperMethod {
  return Object.hasOwn(HELPER_METHODS, name);
}
