import { decodeBase64, MAX_FILE_BLOCK_BYTES } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import type { SessionClient } from '../session-client.js';
import { usageError } from '../usage.js';
import { BlockReader } from './block-reader.js';
import { explainFailure } from './file-system-error.js';
import { ReadOnlyFile } from './read-only-file.js';
import { toNativeText } from './remote-path.js';

/** Largest file that is read with one request, in bytes. The answer to one for more could exceed what a message may be. */
const MAX_WHOLE_READ_BYTES = 8 * 1024 * 1024;

/** Options of `readFile`. */
export interface ReadFileOptions {
  /** Decode to text. @default none: the answer is bytes */
  readonly encoding?: 'utf8' | 'utf-8' | null;
  readonly signal?: AbortSignal;
}

/** Reads a whole file of any size. */
export async function readFile(
  client: SessionClient,
  uri: string,
  options: ReadFileOptions = {},
): Promise<Uint8Array | string> {
  checkOptions('readFile', options, ['encoding', 'signal']);
  const { encoding, signal } = options;
  if (encoding !== undefined && encoding !== null && encoding !== 'utf8' && encoding !== 'utf-8') {
    throw usageError(`readFile decodes utf8 only: ${String(encoding)}`);
  }
  const bytes = await readBytes(client, uri, signal);
  // A byte order mark is part of the text, as in `node:fs`.
  return encoding ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : bytes;
}

async function readBytes(
  client: SessionClient,
  uri: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const failed = { operation: 'readFile', path: toNativeText(uri) };
  const options = signal && { signal };
  const { size } = await explainFailure(client.call('fs/getMetadata', { path: uri }, options), failed);
  if (size > MAX_WHOLE_READ_BYTES) return readBlocks(client, uri, size, signal);
  const { dataBase64 } = await explainFailure(client.call('fs/readFile', { path: uri }, options), failed);
  return decodeBase64(dataBase64);
}

/** `size` is what to expect; the file may have become another meanwhile. */
async function readBlocks(
  client: SessionClient,
  uri: string,
  size: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const file = await ReadOnlyFile.open(client, uri, { operation: 'readFile', signal });
  try {
    const range = { start: 0, end: Number.MAX_SAFE_INTEGER, blockBytes: MAX_FILE_BLOCK_BYTES };
    const reader = new BlockReader(file, range);
    let bytes = new Uint8Array(size);
    let length = 0;
    for (let block = await reader.next(); block !== undefined; block = await reader.next()) {
      signal?.throwIfAborted();
      if (length + block.length > bytes.length) bytes = grow(bytes, length + block.length);
      bytes.set(block, length);
      length += block.length;
    }
    return bytes.subarray(0, length);
  } finally {
    void file.close();
  }
}

function grow(bytes: Uint8Array, needed: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(Math.max(needed, 2 * bytes.length));
  grown.set(bytes);
  return grown;
}
