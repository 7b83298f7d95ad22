import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { callSystem } from '../fs/file-error.js';
import { describeInvalidUtf8 } from './utf8.js';

/** Why a file that exists is not taken as text. */
export type TextFileFailure = 'not-a-file' | 'too-large' | 'not-utf8';

export class TextFileError extends Error {
  override readonly name = 'TextFileError';
  constructor(
    readonly failure: TextFileFailure,
    message: string,
  ) {
    super(message);
  }
}

// Not blocking, so that a FIFO without a writer cannot hold up a thread of the pool before it is told apart.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Bytes asked for at a time; most of the files here fit into one. */
const READ_BYTES = 65_536;

/**
 * The text of a regular file of at most `maxBytes`. Links are followed. Throws {@link TextFileError}, or `OsError`
 * when the file cannot be opened or read.
 */
export async function readTextFile(path: string | Buffer, maxBytes: number): Promise<string> {
  const file = await callSystem(open(path, OPEN_FLAGS));
  try {
    return decodeUtf8(await callSystem(readBounded(file, path, maxBytes)));
  } finally {
    await file.close();
  }
}

async function readBounded(file: FileHandle, path: string | Buffer, maxBytes: number): Promise<Buffer> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new TextFileError('not-a-file', `path \`${path.toString()}\` is not a file`);
  if (stats.size > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  for (let total = 0; ; ) {
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await file.read(chunk, 0, chunk.length);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    total += bytesRead;
    // The size said otherwise, but a file may grow while it is read.
    if (total > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk.subarray(0, bytesRead));
  }
}

function tooLarge(maxBytes: number): TextFileError {
  return new TextFileError('too-large', `exceeds the ${maxBytes}-byte limit`);
}

function decodeUtf8(bytes: Buffer): string {
  const problem = describeInvalidUtf8(bytes);
  if (problem !== undefined) throw new TextFileError('not-utf8', problem);
  return bytes.toString();
}
