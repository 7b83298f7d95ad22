import { realpath } from 'node:fs/promises';
import { callSystem } from './file-error.js';

/** The same path without symbolic links. */
export function canonicalizePath(path: Buffer): Promise<Buffer> {
  return callSystem(realpath(path, { encoding: 'buffer' }));
}
