import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { throwIfWanting } from '../../fs/file-error.js';
import { joinPath, normalizePath, parentPath } from '../../fs/native-path.js';

const MAX_POINTER_BYTES = 8192;
const LABEL = Buffer.from('gitdir:');
const SLASH = 0x2f;

/**
 * Where a repository is whose `.git` is a file: in a working tree beside the first one, or in a submodule. That is its own
 * directory, and the one that it shares with others, in which the hooks are. Nothing for what is no such file. Throws
 * `OsError` when that cannot be known just now.
 */
export async function readGitPointer(path: Buffer): Promise<Buffer[]> {
  const text = await readLine(path);
  if (text === undefined || !text.subarray(0, LABEL.length).equals(LABEL)) return [];
  const own = resolve(parentPath(path), trim(text.subarray(LABEL.length)));
  if (own === undefined) return [];
  const common = await readLine(joinPath(own, Buffer.from('commondir')));
  return [own, common && resolve(own, trim(common))].filter((found) => found !== undefined);
}

function resolve(directory: Buffer, target: Buffer): Buffer | undefined {
  if (target.length === 0 || target.includes(0)) return undefined;
  return normalizePath(target[0] === SLASH ? target : joinPath(directory, target));
}

function trim(text: Buffer): Buffer {
  return Buffer.from(text.toString('latin1').trim(), 'latin1');
}

/** What a small regular file says; never waits for anybody who would have to write it. */
async function readLine(path: Buffer): Promise<Buffer | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (!(await file.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_POINTER_BYTES));
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throwIfWanting(error);
    return undefined;
  } finally {
    await file?.close();
  }
}
