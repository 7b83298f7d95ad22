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
  /** Have the server keep the file open over lost connections; it must know how. @default false */
  readonly keep?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A part of a file. */
export interface FileBlock {
  readonly bytes: Uint8Array;
  /** The file ended before the block was full. */
  readonly isLast: boolean;
}

/**
 * A file that is open on the server. Unless the server keeps it, it belongs to one connection and is over with it, because
 * the file that its path leads to on the next connection may be another one: every use fails with the loss from then on.
 */
export class RemoteFile {
  readonly #client: SessionClient;
  readonly #handleId: string;
  readonly #failed: FailedOperation;
  readonly #isKept: boolean;
  readonly #stopListening: () => void;
  #identity: string | undefined;
  #loss: ExecServerError | undefined;
  #isClosed = false;

  /**
   * Opens the file at a path of the wire. One that is not kept is not opened again after a loss: the handle would be of the
   * lost connection.
   */
  static async open(client: SessionClient, uri: string, options: RemoteFileOptions): Promise<RemoteFile> {
    const { operation, keep = false, signal } = options;
    // Before listening for losses: the first connection, or a recovery, is none of them.
    await client.ready(signal);
    const file = new RemoteFile(client, { operation, path: toNativeText(uri) }, keep);
    try {
      await file.#open(uri, options);
      return file;
    } catch (error) {
      // A call that was given up may still have opened the file.
      if (error instanceof RejectedError) file.#forget();
      else void file.close();
      throw error;
    }
  }

  private constructor(client: SessionClient, failed: FailedOperation, isKept: boolean) {
    this.#client = client;
    this.#handleId = createRandomId();
    this.#failed = failed;
    this.#isKept = isKept;
    this.#stopListening = client.onLoss((error) => {
      if (!isKept) this.#loss ??= error;
    });
  }

  /** Whether the connection that the file was open on is gone. */
  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** The same for the same file with the same content; absent where the server does not tell. */
  get identity(): string | undefined {
    return this.#identity;
  }

  async #open(uri: string, { mode, signal }: RemoteFileOptions): Promise<void> {
    const params = {
      handleId: this.#handleId,
      path: uri,
      ...(mode === 'replace' ? { mode } : { identify: true }),
      ...(this.#isKept && { keep: true }),
    };
    const options = { resend: this.#isKept, ...(signal && { signal }) };
    try {
      const { identity } = await explainFailure(this.#client.call('fs/open', params, options), this.#failed);
      this.#identity = identity;
    } catch (error) {
      if (!this.#isKept || !isTaken(error)) throw error;
      // Nobody else has the id: the file was opened when this was sent the first time.
    }
  }

  /** Reads up to `length` bytes, 1 to 1 MiB, and fewer only at the end of the file. */
  async read(offset: number, length: number): Promise<FileBlock> {
    this.#throwIfLost();
    const params = { handleId: this.#handleId, offset, len: length };
    const call = this.#client.call('fs/readBlock', params, { resend: this.#isKept });
    const { chunk, eof } = await explainFailure(call, this.#failed);
    return { bytes: decodeBase64(chunk), isLast: eof };
  }

  /**
   * Writes 1 byte to 1 MiB at a position. The bytes may be changed as soon as this returns. To a file that is kept they are
   * sent again after a loss: the same bytes at the same place of the same file.
   */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#throwIfLost();
    const params = { handleId: this.#handleId, offset, chunk: encodeBase64(bytes) };
    const call = this.#client.call('fs/writeBlock', params, { resend: this.#isKept });
    await explainFailure(call, this.#failed);
  }

  /** Gives the file up. Resolves when the server has closed it, or when it is gone with its connection. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#forget();
    if (this.#loss !== undefined) return;
    try {
      await this.#client.call('fs/close', { handleId: this.#handleId }, { resend: this.#isKept });
    } catch {
      // Only a connection or a session that ends can be in the way, and it takes the handle along.
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

function isTaken(error: unknown): boolean {
  if (!(error instanceof RejectedError)) return false;
  const { reason, message } = error;
  return reason === undefined ? message.includes(' already exists') : reason === 'id_taken';
}
