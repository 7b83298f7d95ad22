import { MAX_FILE_BLOCK_BYTES } from '@exec-server/protocol';
import type { RemoteFile } from './remote-file.js';

/** Most blocks that are on their way to the server at once. */
export const MAX_BLOCKS_IN_FLIGHT = 4;

/**
 * Writes a file front to back. Up to four blocks are under way at once; while they are, smaller pieces gather to a
 * block, so that many small writes are few requests and a lone one still goes out at once.
 */
export class BlockWriter {
  readonly #file: RemoteFile;
  readonly #inFlight = new Set<Promise<void>>();
  /** What waits for its turn, at most a block. */
  readonly #gathered = new Uint8Array(MAX_FILE_BLOCK_BYTES);
  #gatheredBytes = 0;
  #offset = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(file: RemoteFile) {
    this.#file = file;
  }

  /** Takes bytes and resolves when there is room for more. Rejects with the first failure, also of an earlier write. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      this.#throwIfFailed();
      const taken = Math.min(bytes.length - at, MAX_FILE_BLOCK_BYTES - this.#gatheredBytes);
      this.#gathered.set(bytes.subarray(at, at + taken), this.#gatheredBytes);
      this.#gatheredBytes += taken;
      at += taken;
      if (this.#inFlight.size < MAX_BLOCKS_IN_FLIGHT) this.#send();
      // Whatever is written first sends what gathered, and makes room by that.
      while (this.#gatheredBytes === MAX_FILE_BLOCK_BYTES) {
        await Promise.race(this.#inFlight);
        this.#throwIfFailed();
      }
    }
  }

  /** Resolves when everything is written. */
  async flush(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.race(this.#inFlight);
    this.#throwIfFailed();
  }

  /** Drops what was not sent yet and resolves when nothing is under way. */
  async abandon(): Promise<void> {
    this.#gatheredBytes = 0;
    await Promise.all(this.#inFlight);
  }

  #send(): void {
    const length = this.#gatheredBytes;
    const written = this.#writeBlock(this.#offset, this.#gathered.subarray(0, length));
    this.#inFlight.add(written);
    this.#offset += length;
    this.#gatheredBytes = 0;
    void written.then(() => {
      this.#inFlight.delete(written);
      // What gathered meanwhile does not wait for the next write.
      if (this.#gatheredBytes > 0 && this.#failure === undefined) this.#send();
    });
  }

  /** Never rejects: a failure is for those who write next. */
  async #writeBlock(offset: number, bytes: Uint8Array): Promise<void> {
    try {
      await this.#file.write(offset, bytes);
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
