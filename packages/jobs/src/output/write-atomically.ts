import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Text that is collected before it is written, in characters. */
const PIECE_CHARACTERS = 64 * 1024;

/**
 * Writes a file whole or not at all: its old content stays until the new one is on disk. Makes its directory. Rejects with
 * the error of the system. `mode` is less the umask.
 */
export async function writeAtomically(
  path: string,
  pieces: Iterable<string> | AsyncIterable<string>,
  mode = 0o666,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      let waiting = '';
      for await (const piece of pieces) {
        waiting += piece;
        if (waiting.length < PIECE_CHARACTERS) continue;
        await file.writeFile(waiting);
        waiting = '';
      }
      await file.writeFile(waiting);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
