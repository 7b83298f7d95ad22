import { MAX_FILE_BLOCK_BYTES } from '@exec-server/protocol';
import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { checkOptions } from '../check-options.js';
import type { SessionClient } from '../session-client.js';
import { usageError } from '../usage.js';
import { type BlockRange, BlockReader } from './block-reader.js';
import { ReadOnlyFile } from './read-only-file.js';

/** Options of `createReadStream`. */
export interface ReadStreamOptions {
  /** First byte to read. @default 0 */
  readonly start?: number;
  /** Last byte to read, inclusive as in `node:fs`. @default the end of the file */
  readonly end?: number;
  /** Bytes of a chunk, 1 to 1 MiB. @default 1 MiB */
  readonly highWaterMark?: number;
  /** Ends the stream with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Streams a file. It is opened by the first read, so that a stream that is never read costs nothing, and closed at the
 * end, by `cancel` and by an error. The stream never holds more than a few chunks, however large the file is.
 *
 * After a lost connection it goes on where it was, if the file has not changed meanwhile, and fails otherwise.
 */
export function createReadStream(
  client: SessionClient,
  uri: string,
  options: ReadStreamOptions = {},
): ReadableStream<Uint8Array> {
  checkOptions('createReadStream', options, ['start', 'end', 'highWaterMark', 'signal']);
  const range = toRange(options);
  const source = new FileSource(client, uri, range, options.signal);
  // Nothing is asked for before somebody reads; reading ahead is the business of the source.
  return new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
}

function toRange({
  start = 0,
  end = Number.MAX_SAFE_INTEGER - 1,
  highWaterMark = MAX_FILE_BLOCK_BYTES,
}: ReadStreamOptions): BlockRange {
  if (!Number.isSafeInteger(start) || start < 0)
    throw usageError(`start must be a position in a file: ${start}`);
  if (!Number.isSafeInteger(end) || end < start) throw usageError(`end must not come before start: ${end}`);
  if (!Number.isInteger(highWaterMark) || highWaterMark < 1 || highWaterMark > MAX_FILE_BLOCK_BYTES) {
    throw usageError(`highWaterMark must be between 1 and ${MAX_FILE_BLOCK_BYTES} bytes: ${highWaterMark}`);
  }
  return { start, end: end + 1, blockBytes: highWaterMark };
}

class FileSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #client: SessionClient;
  readonly #uri: string;
  readonly #range: BlockRange;
  readonly #signal: AbortSignal | undefined;
  #file: ReadOnlyFile | undefined;
  #reader: BlockReader | undefined;
  #onAbort: (() => void) | undefined;

  constructor(client: SessionClient, uri: string, range: BlockRange, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#uri = uri;
    this.#range = range;
    this.#signal = signal;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#onAbort = () => {
      controller.error(this.#signal?.reason);
      void this.#end();
    };
    if (this.#signal?.aborted) this.#onAbort();
    else addAbortListener(this.#signal, this.#onAbort);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const chunk = await (await this.#open()).next();
      if (this.#signal?.aborted) return;
      if (chunk !== undefined) controller.enqueue(chunk);
      else {
        controller.close();
        await this.#end();
      }
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async cancel(): Promise<void> {
    await this.#end();
  }

  async #open(): Promise<BlockReader> {
    if (this.#reader !== undefined) return this.#reader;
    const options = { operation: 'createReadStream', signal: this.#signal };
    this.#file = await ReadOnlyFile.open(this.#client, this.#uri, options);
    this.#reader = new BlockReader(this.#file, this.#range);
    // Cancelled, or aborted, while it was being opened.
    if (this.#onAbort === undefined) await this.#file.close();
    return this.#reader;
  }

  async #end(): Promise<void> {
    if (this.#onAbort !== undefined) removeAbortListener(this.#signal, this.#onAbort);
    this.#onAbort = undefined;
    await this.#file?.close();
  }
}
