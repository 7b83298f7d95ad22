import { EAGAIN, MAX_CHUNK_BYTES } from './constants.js';
import { DescriptorWatch } from './descriptor-watch.js';
import { retryInterrupted } from './descriptors.js';
import type { OutputSource, OutputStream } from './launch.js';
import type { Libc } from './libc.js';

/** Every source reads into this one and copies out before anybody else can: a chunk pins no more than its own bytes. */
const scratch = Buffer.allocUnsafeSlow(MAX_CHUNK_BYTES);

/** Reads a pipe or a pty master of ours to its end. Owns the descriptor, which must be non-blocking. */
export class DescriptorSource implements OutputSource {
  readonly stream: OutputStream;
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #watch: DescriptorWatch;
  readonly #onClosed: () => void;
  #state: 'idle' | 'reading' | 'paused' | 'closed' = 'idle';
  #onChunk: (chunk: Buffer) => void = () => {};
  #onEnd: () => void = () => {};

  /** `onClosed` is called once, when the descriptor has been released, before `onEnd`. */
  constructor(libc: Libc, stream: OutputStream, fd: number, onClosed: () => void = () => {}) {
    this.stream = stream;
    this.#libc = libc;
    this.#fd = fd;
    this.#onClosed = onClosed;
    this.#watch = new DescriptorWatch(libc, fd, 'readable', () => this.#readReady());
  }

  start(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    if (this.#state === 'closed') {
      onEnd();
      return;
    }
    if (this.#state !== 'idle') throw new Error(`the ${this.stream} of this process is being read already`);
    this.#state = 'reading';
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
    this.#watch.start();
  }

  pause(): void {
    if (this.#state !== 'reading') return;
    this.#state = 'paused';
    this.#watch.stop();
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'reading';
    this.#watch.start();
  }

  destroy(): void {
    if (this.#state !== 'closed') this.#finish();
  }

  /** Collects what is ready into one chunk. A pty gives out 4 KiB at a time, a pipe what its writers wrote so far. */
  #readReady(): void {
    let length = 0;
    let atEnd = false;
    while (length < MAX_CHUNK_BYTES && !atEnd) {
      const room = length === 0 ? scratch : scratch.subarray(length);
      const result = retryInterrupted(this.#libc, () => this.#libc.read(this.#fd, room, room.length));
      if (result > 0) length += result;
      else if (result < 0 && this.#libc.errno() === EAGAIN) break;
      // Zero ends a pipe. A pty master ends with EIO once the last holder of its other side is gone.
      else atEnd = true;
    }
    if (length > 0) this.#onChunk(copyChunk(length));
    // The receiver may have destroyed this source on the last chunk.
    if (atEnd) this.destroy();
  }

  #finish(): void {
    this.#state = 'closed';
    this.#watch.close();
    this.#libc.close(this.#fd);
    this.#onClosed();
    this.#onEnd();
  }
}

function copyChunk(length: number): Buffer {
  const chunk = Buffer.allocUnsafeSlow(length);
  scratch.copy(chunk, 0, 0, length);
  return chunk;
}
