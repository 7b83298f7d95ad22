import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { joinPath, normalizePath, parentPath } from '../../fs/native-path.js';

const MAX_POINTER_BYTES = 8192;
const LABEL = Buffer.from('gitdir:');
const SLASH = 0x2f;

/**
 * Where a repository is whose `.git` is a file: in a working tree beside the first one, or in a submodule. That is its own
 * directory, and the one that it shares with others, in which the hooks are. Nothing for what is no such file.
 */
export function readGitPointer(path: Buffer): Buffer[] {
  const text = readLine(path);
  if (text === undefined || !text.subarray(0, LABEL.length).equals(LABEL)) return [];
  const own = resolve(parentPath(path), trim(text.subarray(LABEL.length)));
  if (own === undefined) return [];
  const common = readLine(joinPath(own, Buffer.from('commondir')));
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
function readLine(path: Buffer): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (!fstatSync(fd).isFile()) return undefined;
    const bytes = Buffer.alloc(MAX_POINTER_BYTES);
    return bytes.subarray(0, readSync(fd, bytes));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
