import { encodeBase64 } from '@exec-server/protocol';
import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { checkOptions } from '../check-options.js';
import type { SessionClient } from '../session-client.js';
import { usageError } from '../usage.js';
import { type FileData, toPieces, toWholeBytes } from './file-data.js';
import { explainFailure } from './file-system-error.js';
import { FileWriter, type FileWriterOptions } from './file-writer.js';
import { toNativeText } from './remote-path.js';

/** Largest file that is written with one request, in bytes; larger ones go in blocks. */
export const MAX_WHOLE_WRITE_BYTES = 1024 * 1024;

const PERMISSION_BITS = 0o7777;

/** Options of `createWriteStream`. */
export interface WriteStreamOptions {
  /**
   * Nobody ever finds half of the file: it is written beside, in the same directory, and put in place at the end. Mode
   * and link of a file that is replaced stay. On failure everything is as it was. @default false
   */
  readonly atomic?: boolean;
  /** Permission bits that the file has, also where it existed before. @default those it has, or 0o666 less the umask */
  readonly mode?: number;
  /** Ends the writing with its reason. */
  readonly signal?: AbortSignal;
}

/** Options of `writeFile`. */
export interface WriteFileOptions extends WriteStreamOptions {
  /** Only `w`, which creates the file or replaces its content, is possible over the wire. */
  readonly flag?: 'w';
  /** Of text. */
  readonly encoding?: 'utf8' | 'utf-8';
}

const STREAM_OPTIONS = ['atomic', 'mode', 'signal'];

/** Writes a whole file. */
export async function writeFile(
  client: SessionClient,
  uri: string,
  data: FileData,
  { flag = 'w', encoding = 'utf8', ...options }: WriteFileOptions = {},
): Promise<void> {
  checkOptions('writeFile', options, [...STREAM_OPTIONS, 'flag', 'encoding']);
  if (flag !== 'w') throw usageError(`writeFile can only create or replace: flag \`${String(flag)}\``);
  if (encoding !== 'utf8' && encoding !== 'utf-8')
    throw usageError(`writeFile encodes text as utf8 only: ${String(encoding)}`);
  const writing = toWriterOptions('writeFile', options);
  options.signal?.throwIfAborted();
  const whole = toWholeBytes(data);
  if (whole !== undefined && (await fitsOneRequest(client, whole, options))) {
    await writeWhole(client, uri, whole, options);
    return;
  }
  const writer = await FileWriter.open(client, uri, writing);
  try {
    for await (const piece of toPieces(data)) {
      options.signal?.throwIfAborted();
      await writer.write(piece);
    }
    options.signal?.throwIfAborted();
  } catch (error) {
    await writer.discard();
    throw error;
  }
  await writer.commit();
}

/** A mode cannot be given along with the content, and must be there before it. */
async function fitsOneRequest(
  client: SessionClient,
  bytes: Uint8Array,
  { mode, atomic = false }: WriteStreamOptions,
): Promise<boolean> {
  if (mode !== undefined || bytes.length > MAX_WHOLE_WRITE_BYTES) return false;
  return !atomic || client.supports('fsAtomicWrite');
}

async function writeWhole(
  client: SessionClient,
  uri: string,
  bytes: Uint8Array,
  { atomic = false, signal }: WriteStreamOptions,
): Promise<void> {
  const params = { path: uri, dataBase64: encodeBase64(bytes), ...(atomic && { atomic }) };
  const failed = { operation: 'writeFile', path: toNativeText(uri) };
  await explainFailure(client.call('fs/writeFile', params, signal && { signal }), failed);
}

/**
 * A stream whose bytes become the content of a file. It is complete when the stream is closed.
 *
 * After a lost connection it goes on with what the server has not confirmed, where the server keeps files open for that,
 * and fails otherwise.
 */
export function createWriteStream(
  client: SessionClient,
  uri: string,
  options: WriteStreamOptions = {},
): WritableStream<string | Uint8Array> {
  checkOptions('createWriteStream', options, STREAM_OPTIONS);
  const writing = toWriterOptions('createWriteStream', options);
  const { signal } = options;
  let writer: FileWriter | undefined;
  let onAbort: () => void = () => {};
  const end = () => removeAbortListener(signal, onAbort);
  return new WritableStream<string | Uint8Array>({
    async start(controller) {
      signal?.throwIfAborted();
      writer = await FileWriter.open(client, uri, writing);
      onAbort = () => {
        controller.error(signal?.reason);
        void writer?.discard();
      };
      if (signal?.aborted) onAbort();
      else addAbortListener(signal, onAbort);
    },
    async write(chunk) {
      const bytes = toWholeBytes(chunk);
      if (bytes === undefined) throw new TypeError('a file is written as text or bytes');
      try {
        await writer?.write(bytes);
      } catch (error) {
        end();
        await writer?.discard();
        throw error;
      }
    },
    async close() {
      end();
      await writer?.commit();
    },
    async abort() {
      end();
      await writer?.discard();
    },
  });
}

function toWriterOptions(
  operation: string,
  { atomic = false, mode, signal }: WriteStreamOptions,
): FileWriterOptions {
  return { operation, atomic, signal, ...(mode !== undefined && { mode: checkMode(mode) }) };
}

/** The permission bits of a mode, which may come with the type bits of `Stats.mode`. */
export function checkMode(mode: number): number {
  if (!Number.isInteger(mode) || mode < 0) throw usageError(`mode must be permission bits: ${String(mode)}`);
  return mode & PERMISSION_BITS;
}
