import type { Readable } from 'node:stream';
import { MAX_CHUNK_BYTES } from '../constants.js';
import type { OutputSource, OutputStream } from '../launch.js';

/**
 * Reads a stream of Node. It takes data by `read`, never by 'data' events: when a child exits Node sets its streams
 * flowing, whether anybody listens or not.
 */
export class StreamSource implements OutputSource {
  readonly stream: OutputStream;
  readonly #readable: Readable;
  #state: 'idle' | 'reading' | 'paused' | 'closed' = 'idle';
  #ended = false;
  #onChunk: (chunk: Buffer) => void = () => {};
  #onEnd: () => void = () => {};

  constructor(stream: OutputStream, readable: Readable) {
    this.stream = stream;
    this.#readable = readable;
    readable.on('readable', () => this.#readReady());
    // A stream that broke ends with 'close' like every other one.
    readable.on('error', () => {});
    readable.on('close', () => this.#finish());
  }

  start(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    if (this.#state === 'closed') {
      onEnd();
      return;
    }
    if (this.#state !== 'idle') throw new Error(`the ${this.stream} of this process is being read already`);
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
    this.#state = 'paused';
    this.resume();
  }

  pause(): void {
    if (this.#state === 'reading') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'reading';
    setImmediate(() => this.#readReady());
  }

  destroy(): void {
    this.#readable.destroy();
    this.#finish();
  }

  #readReady(): void {
    while (this.#state === 'reading') {
      const chunk = this.#readable.read() as Buffer | null;
      if (chunk === null) break;
      this.#deliver(chunk);
    }
  }

  #deliver(bytes: Buffer): void {
    for (let offset = 0; offset < bytes.length; offset += MAX_CHUNK_BYTES) {
      this.#onChunk(bytes.subarray(offset, offset + MAX_CHUNK_BYTES));
    }
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    const wasStarted = this.#state !== 'idle';
    this.#state = 'closed';
    if (wasStarted) this.#onEnd();
  }
}
