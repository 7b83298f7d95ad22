import { encodeBase64, type ParamsOf, type ResultOf } from '@exec-server/protocol';
import type { WriteOptions } from '../process-session.js';
import type { SessionCallOptions } from '../session-client.js';

/** Largest piece of stdin in one `process/write`, in bytes. */
export const MAX_WRITE_BYTES = 1024 * 1024;

/** Sends one piece to the process that it is for. */
export type SendWrite = (
  params: Omit<ParamsOf<'process/write'>, 'processId' | 'sessionId'>,
  options: SessionCallOptions,
) => Promise<ResultOf<'process/write'>>;

/**
 * Writes to the stdin of one process, one after the other. Each piece has an id, by which the server knows one that is
 * sent again after a reconnect.
 */
export class StdinWrites {
  readonly #send: SendWrite;
  readonly #idPrefix: string;
  #lastId = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(send: SendWrite, idPrefix: string) {
    this.#send = send;
    this.#idPrefix = idPrefix;
  }

  write(data: Uint8Array, options: WriteOptions): Promise<ResultOf<'process/write'>> {
    const written = this.#lastWrite.then(() => this.#writePieces(data, options));
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  async #writePieces(
    data: Uint8Array,
    { closeStdin = false, signal }: WriteOptions,
  ): Promise<ResultOf<'process/write'>> {
    for (let at = 0; ; at += MAX_WRITE_BYTES) {
      signal?.throwIfAborted();
      const isLast = at + MAX_WRITE_BYTES >= data.length;
      const piece = {
        chunk: encodeBase64(data.subarray(at, at + MAX_WRITE_BYTES)),
        writeId: `${this.#idPrefix}${++this.#lastId}`,
        ...(isLast && closeStdin && { closeStdin }),
      };
      const result = await this.#send(piece, signal === undefined ? {} : { signal });
      if (isLast || result.status !== 'accepted') return result;
    }
  }
}
