import type { FileHandle } from 'node:fs/promises';
import { callSystem, EPERM, isOsError } from './file-error.js';

/** The bits that run a program as the owner or the group of its file. */
export const SET_ID_BITS = 0o6000;

/**
 * Gives a new file the mode of another one. Where set-id bits are refused, as they are in a sandbox, it goes without them:
 * they are lost by writing to a file, too. Throws an `OsError`.
 */
export async function applyMode(file: FileHandle, mode: number): Promise<void> {
  try {
    await callSystem(file.chmod(mode));
  } catch (error) {
    if (!isOsError(error, EPERM) || (mode & SET_ID_BITS) === 0) throw error;
    await callSystem(file.chmod(mode & ~SET_ID_BITS));
  }
}
