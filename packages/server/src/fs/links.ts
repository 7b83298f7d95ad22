import { isUtf8 } from 'node:buffer';
import { readlink, symlink } from 'node:fs/promises';
import { callSystem, FileError } from './file-error.js';

/** What a symbolic link says. One that is no UTF-8 is refused, because its text would lead elsewhere. */
export async function readLink(path: Buffer): Promise<string> {
  const target = await callSystem(readlink(path, { encoding: 'buffer' }));
  if (!isUtf8(target)) throw new FileError('failed', 'target of the symbolic link is not valid UTF-8');
  return target.toString();
}

/** Makes a symbolic link where nothing is yet. */
export function createSymlink(path: Buffer, target: string): Promise<void> {
  return callSystem(symlink(target, path));
}
