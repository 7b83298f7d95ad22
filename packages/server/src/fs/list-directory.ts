import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { callSystem, toFileError } from './file-error.js';

/** Names fetched from the system at once. */
const NAMES_PER_CALL = 512;

/** What is in a directory, in the order of the file system, without ever holding the whole of it. */
export async function* listDirectory(path: Buffer): AsyncGenerator<Dirent<Buffer>, void> {
  const directory = await callSystem(
    // The type of the option knows of text only; `buffer` is what the implementation calls raw names.
    opendir(path, { bufferSize: NAMES_PER_CALL, encoding: 'buffer' as BufferEncoding }),
  );
  try {
    for await (const entry of directory) yield entry as unknown as Dirent<Buffer>;
  } catch (error) {
    throw toFileError(error);
  }
}
