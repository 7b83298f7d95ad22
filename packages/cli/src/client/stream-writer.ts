import type { OutputStream } from '../command-io.js';

/** Writes to a stream no faster than it is read, and knows when nobody reads any more. */
export class StreamWriter {
  readonly #stream: OutputStream;
  /** The standard streams of a process recover from every error, so that it has to be remembered here. */
  #broken: boolean;
  #wake: () => void = () => {};

  constructor(stream: OutputStream) {
    this.#stream = stream;
    this.#broken = !stream.writable;
    const breakOff = () => {
      this.#broken = true;
      this.#wake();
    };
    stream.once('error', breakOff);
    stream.once('close', breakOff);
    stream.on('drain', () => this.#wake());
  }

  /** Nobody reads what is written. */
  get isBroken(): boolean {
    return this.#broken;
  }

  /** Resolves when there is room for more: true, or false once nobody reads any more. */
  async write(data: Uint8Array | string): Promise<boolean> {
    if (this.#broken) return false;
    if (!this.#stream.write(data)) await this.#nextNews();
    return !this.#broken;
  }

  /** Resolves when all that was written has been taken, or never will be. */
  async flush(): Promise<void> {
    while (this.#stream.writableLength > 0 && !this.#broken) {
      const flushed = new Promise<void>((resolve) => {
        this.#stream.write('', () => resolve());
      });
      await Promise.race([flushed, this.#nextNews()]);
    }
  }

  #nextNews(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
