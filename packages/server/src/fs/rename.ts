import { rename } from 'node:fs/promises';
import { callSystem } from './file-error.js';

/** Gives what is at a path another one, in one step; a file, or an empty directory for a directory, is replaced. */
export function renamePath(source: Buffer, destination: Buffer): Promise<void> {
  return callSystem(rename(source, destination));
}
