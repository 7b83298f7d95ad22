import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { nativeToPathUri } from '@exec-server/protocol';
import { readTextFile, TextFileError } from '../environment/text-file.js';
import { ENOENT, isOsError } from '../fs/file-error.js';
import { type BytePath, toPathBytes } from '../fs/watch/byte-path.js';
import { OsError } from '../os-error.js';

/** Largest file that is taken, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** Most text that one root brings together, in bytes. */
export const MAX_BUNDLE_BYTES = 16 * 1024 * 1024;

const { EACCES } = constants.errno;

/** A file with its text. */
export interface TextFile {
  readonly path: BytePath;
  readonly contents: string;
}

/** The files of one root as they are gathered: bounded, and with a warning for what was left out. */
export class Bundle {
  readonly warnings: string[] = [];
  #bytes = 0;

  /** The file, or nothing when it is absent, is no regular file, or was left out. */
  async read(path: BytePath): Promise<TextFile | undefined> {
    try {
      const contents = await readTextFile(toPathBytes(path), MAX_FILE_BYTES);
      const bytes = Buffer.byteLength(contents);
      if (this.#bytes + bytes > MAX_BUNDLE_BYTES) {
        this.warnings.push(`capability root bundle exceeds the ${MAX_BUNDLE_BYTES}-byte limit`);
        return undefined;
      }
      this.#bytes += bytes;
      return { path, contents };
    } catch (error) {
      const warning = await describeFailure(path, error);
      if (warning !== undefined) this.warnings.push(warning);
      return undefined;
    }
  }

  /** The first of several files that can be read. */
  async readFirst(paths: readonly BytePath[]): Promise<TextFile | undefined> {
    for (const path of paths) {
      const file = await this.read(path);
      if (file !== undefined) return file;
    }
    return undefined;
  }
}

/** A path as clients see it. */
export function showPath(path: BytePath): string {
  return nativeToPathUri(toPathBytes(path));
}

async function describeFailure(path: BytePath, error: unknown): Promise<string | undefined> {
  const uri = showPath(path);
  if (error instanceof TextFileError) {
    if (error.failure === 'not-a-file') return undefined;
    if (error.failure === 'not-utf8') return `capability file ${uri} is not UTF-8: ${error.message}`;
    return `capability file ${uri} ${error.message}`;
  }
  if (isOsError(error, ENOENT)) return undefined;
  if (!(error instanceof OsError)) throw error;
  // Whoever may not read a file can look at it, unless he may not look into its directory either.
  const action = error.errno === EACCES && (await isThere(path)) ? 'read' : 'inspect';
  return `failed to ${action} capability file ${uri}: ${error.message}`;
}

async function isThere(path: BytePath): Promise<boolean> {
  return stat(toPathBytes(path)).then(
    () => true,
    () => false,
  );
}
