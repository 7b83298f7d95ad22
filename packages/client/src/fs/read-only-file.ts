import { ConnectionLostError } from '../errors.js';
import type { SessionClient } from '../session-client.js';
import { FileSystemError } from './file-system-error.js';
import { type FileBlock, RemoteFile } from './remote-file.js';
import { toNativeText } from './remote-path.js';

/** How a file is opened to be read. */
export interface ReadOnlyFileOptions {
  /** What errors call the operation. */
  readonly operation: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A file that is read, over reconnects: it is opened again, and goes on if it is the same file with the same content then.
 * On a server that cannot tell it is over with its connection.
 */
export class ReadOnlyFile {
  readonly #client: SessionClient;
  readonly #uri: string;
  readonly #options: ReadOnlyFileOptions;
  #file: RemoteFile;
  #reopening: Promise<void> | undefined;
  #isClosed = false;

  static async open(client: SessionClient, uri: string, options: ReadOnlyFileOptions): Promise<ReadOnlyFile> {
    return new ReadOnlyFile(client, uri, options, await openToRead(client, uri, options));
  }

  private constructor(client: SessionClient, uri: string, options: ReadOnlyFileOptions, file: RemoteFile) {
    this.#client = client;
    this.#uri = uri;
    this.#options = options;
    this.#file = file;
  }

  /** Reads up to `length` bytes, 1 to 1 MiB, and fewer only at the end of the file. */
  async read(offset: number, length: number): Promise<FileBlock> {
    for (;;) {
      const file = this.#file;
      try {
        return await file.read(offset, length);
      } catch (error) {
        if (!file.isLost || file.identity === undefined || this.#isClosed) throw error;
        await this.#reopen(file, offset);
      }
    }
  }

  /** Gives the file up. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#file.close();
  }

  /** Those who lost the same file share one attempt to get it back. */
  async #reopen(lost: RemoteFile, offset: number): Promise<void> {
    if (this.#file !== lost) return;
    this.#reopening ??= this.#openAgain(lost, offset).finally(() => {
      this.#reopening = undefined;
    });
    await this.#reopening;
  }

  async #openAgain(lost: RemoteFile, offset: number): Promise<void> {
    const file = await openToRead(this.#client, this.#uri, this.#options).catch((error: unknown) => {
      throw error instanceof FileSystemError ? this.#changed(offset, error) : error;
    });
    void lost.close();
    this.#file = file;
    if (this.#isClosed || file.identity !== lost.identity) await file.close();
    if (file.identity !== lost.identity) throw this.#changed(offset);
  }

  #changed(offset: number, cause?: unknown): ConnectionLostError {
    const { operation } = this.#options;
    const message = `the file has changed while the connection was lost, so that it cannot be read on at byte ${offset}; read it again from its start`;
    return new ConnectionLostError(`${message}, ${operation} '${toNativeText(this.#uri)}'`, {
      retryable: false,
      cause,
    });
  }
}

/** Opens a file; again where the connection is lost before the answer, which costs nothing. */
async function openToRead(
  client: SessionClient,
  uri: string,
  options: ReadOnlyFileOptions,
): Promise<RemoteFile> {
  for (;;) {
    // Rejects once there is no connection to be had any more.
    await client.ready(options.signal);
    try {
      return await RemoteFile.open(client, uri, { mode: 'read', ...options });
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
    }
  }
}
