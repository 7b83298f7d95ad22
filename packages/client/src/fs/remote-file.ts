import { decodeBase64, encodeBase64 } from '@exec-server/protocol';
import { type ExecServerError, RejectedError } from '../errors.js';
import { createRandomId } from '../random-id.js';
import type { SessionClient } from '../session-client.js';
import { explainFailure, type FailedOperation } from './file-system-error.js';
import { toNativeText } from './remote-path.js';

/** `replace` creates the file or empties the one that is there. */
export type RemoteFileMode = 'read' | 'replace';

/** How a file is opened. */
export interface RemoteFileOptions {
  readonly mode: RemoteFileMode;
  /** What errors call the operation. */
  readonly operation: string;
  readonly signal?: AbortSignal | undefined;
}

/** A part of a file. */
export interface FileBlock {
  readonly bytes: Uint8Array;
  /** The file ended before the block was full. */
  readonly isLast: boolean;
}

/**
 * A file that is open on the server. It belongs to one connection and is over with it, because the file that its path
 * leads to on the next connection may be another one: every use fails with the loss from then on.
 */
export class RemoteFile {
  readonly #client: SessionClient;
  readonly #handleId: string;
  readonly #failed: FailedOperation;
  readonly #stopListening: () => void;
  #loss: ExecServerError | undefined;
  #isClosed = false;

  /** Opens the file at a path of the wire. Not sent again after a loss: the handle would be of the lost connection. */
  static async open(client: SessionClient, uri: string, options: RemoteFileOptions): Promise<RemoteFile> {
    const { mode, operation, signal } = options;
    // Before listening for losses: the first connection, or a recovery, is none of them.
    await client.ready(signal);
    const file = new RemoteFile(client, { operation, path: toNativeText(uri) });
    try {
      await file.#open(uri, mode, signal);
      return file;
    } catch (error) {
      // A call that was given up may still have opened the file.
      if (error instanceof RejectedError) file.#forget();
      else void file.close();
      throw error;
    }
  }

  private constructor(client: SessionClient, failed: FailedOperation) {
    this.#client = client;
    this.#handleId = createRandomId();
    this.#failed = failed;
    this.#stopListening = client.onLoss((error) => {
      this.#loss ??= error;
    });
  }

  async #open(uri: string, mode: RemoteFileMode, signal: AbortSignal | undefined): Promise<void> {
    const params = { handleId: this.#handleId, path: uri, ...(mode === 'replace' && { mode }) };
    const options = { resend: false, ...(signal && { signal }) };
    await explainFailure(this.#client.call('fs/open', params, options), this.#failed);
  }

  /** Reads up to `length` bytes, 1 to 1 MiB, and fewer only at the end of the file. */
  async read(offset: number, length: number): Promise<FileBlock> {
    this.#throwIfLost();
    const params = { handleId: this.#handleId, offset, len: length };
    const call = this.#client.call('fs/readBlock', params, { resend: false });
    const { chunk, eof } = await explainFailure(call, this.#failed);
    return { bytes: decodeBase64(chunk), isLast: eof };
  }

  /** Writes 1 byte to 1 MiB at a position. The bytes may be changed as soon as this returns. */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#throwIfLost();
    const params = { handleId: this.#handleId, offset, chunk: encodeBase64(bytes) };
    await explainFailure(this.#client.call('fs/writeBlock', params, { resend: false }), this.#failed);
  }

  /** Gives the file up. Resolves when the server has closed it, or when it is gone with its connection. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#forget();
    if (this.#loss !== undefined) return;
    try {
      await this.#client.call('fs/close', { handleId: this.#handleId }, { resend: false });
    } catch {
      // Only a connection that ends can be in the way, and it takes the handle along.
    }
  }

  #forget(): void {
    this.#isClosed = true;
    this.#stopListening();
  }

  #throwIfLost(): void {
    if (this.#loss !== undefined) throw this.#loss;
  }
}
