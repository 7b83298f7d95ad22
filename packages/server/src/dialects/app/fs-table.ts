import { app } from '@exec-server/protocol';
import { defineMethod } from './define-method.js';
import {
  copyPath,
  createDirectory,
  getMetadata,
  readDirectory,
  readFile,
  removePath,
  writeFile,
} from './fs-files.js';
import { unwatchPath, watchPath } from './fs-watch.js';

const reads = { files: () => 'reads' as const };
const changes = { files: () => 'changes' as const };

export const FS_METHODS = [
  defineMethod('fs/readFile', app.FsReadFileParams, readFile, reads),
  defineMethod('fs/writeFile', app.FsWriteFileParams, writeFile, changes),
  defineMethod('fs/createDirectory', app.FsCreateDirectoryParams, createDirectory, changes),
  defineMethod('fs/getMetadata', app.FsGetMetadataParams, getMetadata, reads),
  defineMethod('fs/readDirectory', app.FsReadDirectoryParams, readDirectory, reads),
  defineMethod('fs/remove', app.FsRemoveParams, removePath, changes),
  defineMethod('fs/copy', app.FsCopyParams, copyPath, changes),
  defineMethod('fs/watch', app.FsWatchParams, watchPath, reads),
  defineMethod('fs/unwatch', app.FsUnwatchParams, unwatchPath),
];
