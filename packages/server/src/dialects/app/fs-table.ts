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
  defineMethod('fs/readFile', readFile, reads),
  defineMethod('fs/writeFile', writeFile, changes),
  defineMethod('fs/createDirectory', createDirectory, changes),
  defineMethod('fs/getMetadata', getMetadata, reads),
  defineMethod('fs/readDirectory', readDirectory, reads),
  defineMethod('fs/remove', removePath, changes),
  defineMethod('fs/copy', copyPath, changes),
  defineMethod('fs/watch', watchPath, reads),
  defineMethod('fs/unwatch', unwatchPath),
];
