import { closeSync, readSync } from 'node:fs';
import type { SocketConstructorOpts } from 'node:net';
import { ReadStream } from 'node:tty';
import { EAGAIN, MAX_CHUNK_BYTES } from '../constants.js';
import type { OutputSource } from '../launch.js';
import { toOsError } from '../node-error.js';
import { BackOff } from './back-off.js';

/**
 * Reads a pty master without losing its tail. libuv takes a short read at hang-up for the end, so the terminal must not
 * hang up while libuv reads: one slave descriptor is held open for as long as the child runs. After that the master is
 * read directly, by polling, until nobody holds the other side.
 */
export class PtySource implements OutputSource {
  readonly stream = 'pty';
  readonly #fd: number;
  readonly #reader: ReadStream;
  readonly #onClosed: () => void;
  readonly #poll = new BackOff(() => this.#readReady(0));
  readonly #scratch = Buffer.allocUnsafeSlow(MAX_CHUNK_BYTES);
  #slave: number | null;
  #state: 'idle' | 'reading' | 'paused' | 'closed' = 'idle';
  #onChunk: (chunk: Buffer) => void = () => {};
  #onEnd: () => void = () => {};

  /** Owns both descriptors; the master must be non-blocking. `onClosed` comes when they are released. */
  constructor(master: number, slave: number, onClosed: () => void) {
    this.#fd = master;
    this.#slave = slave;
    this.#onClosed = onClosed;
    // The constructor hands its options on to `net.Socket`, which takes `onread`; with it, pausing stops at once.
    const options: SocketConstructorOpts & { onread: object } = {
      onread: {
        buffer: this.#scratch,
        callback: (length: number) => {
          this.#readReady(length);
          return true;
        },
      },
    };
    this.#reader = new ReadStream(master, options);
    this.#reader.on('error', () => this.destroy());
    this.#reader.on('close', () => this.destroy());
  }

  start(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    if (this.#state === 'closed') {
      onEnd();
      return;
    }
    if (this.#state !== 'idle') throw new Error('the pty of this process is being read already');
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
    this.#state = 'paused';
    this.resume();
  }

  pause(): void {
    if (this.#state !== 'reading') return;
    this.#state = 'paused';
    this.#reader.pause();
    this.#poll.cancel();
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'reading';
    if (this.#slave !== null) this.#reader.resume();
    else this.#poll.later();
  }

  destroy(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#poll.cancel();
    this.#releaseSlave();
    this.#reader.destroy();
    this.#onClosed();
    this.#onEnd();
  }

  /** The direct child has ended. */
  childExited(): void {
    if (this.#state === 'closed') return;
    this.#reader.pause();
    this.#releaseSlave();
    if (this.#state === 'reading') this.#poll.later();
  }

  #releaseSlave(): void {
    if (this.#slave !== null) closeSync(this.#slave);
    this.#slave = null;
  }

  /** Collects what is ready behind the first `length` bytes of the buffer into one chunk. */
  #readReady(length: number): void {
    let atEnd = false;
    let drained = false;
    while (length < MAX_CHUNK_BYTES && !atEnd && !drained) {
      try {
        const count = readSync(this.#fd, this.#scratch, length, MAX_CHUNK_BYTES - length, null);
        length += count;
        atEnd = count === 0;
      } catch (error) {
        // EIO: nobody holds the other side any more.
        drained = toOsError(error, 'read').errno === EAGAIN;
        atEnd = !drained;
      }
    }
    if (length > 0) {
      this.#poll.reset();
      this.#onChunk(copyBytes(this.#scratch, length));
    }
    if (atEnd) this.destroy();
    else if (this.#slave === null && this.#state === 'reading') this.#poll.later();
  }
}

function copyBytes(from: Buffer, length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length);
  from.copy(copy, 0, 0, length);
  return copy;
}
