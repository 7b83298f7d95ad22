import { OsError } from '../os-error.js';
import { EAGAIN, EPIPE } from './constants.js';
import { DescriptorWatch } from './descriptor-watch.js';
import { retryInterrupted } from './descriptors.js';
import type { InputTarget } from './launch.js';
import type { Libc } from './libc.js';

/** Most that one turn of the loop writes, in bytes: a reader as fast as this writer must not hold the loop. */
const MAX_TURN_BYTES = 262_144;

interface PendingWrite {
  bytes: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (error: OsError) => void;
}

/** Writes to a pipe or a pty master of ours. Owns the descriptor, which must be non-blocking. */
export class DescriptorTarget implements InputTarget {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #watch: DescriptorWatch;
  #pending: PendingWrite | null = null;
  /** Errno that every later write rejects with. */
  #closedWith: number | null = null;

  constructor(libc: Libc, fd: number) {
    this.#libc = libc;
    this.#fd = fd;
    this.#watch = new DescriptorWatch(libc, fd, 'writable', () => this.#writeReady());
  }

  /** True while a write waits for the reader. */
  get busy(): boolean {
    return this.#pending !== null;
  }

  /** The first attempt is made before this returns, so that bytes which fit are in the kernel by then. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closedWith !== null) return Promise.reject(new OsError(this.#closedWith, 'write'));
    if (this.#pending !== null) return Promise.reject(new Error('a write is under way'));
    return new Promise((resolve, reject) => {
      this.#pending = { bytes, resolve, reject };
      this.#writeReady();
    });
  }

  endMark(): undefined {
    return undefined;
  }

  close(): void {
    this.fail(EPIPE);
  }

  /** Lends the descriptor. Throws the errno of the end when it has been released. */
  use<Result>(action: (fd: number) => Result): Result {
    if (this.#closedWith !== null) throw new OsError(this.#closedWith, 'use');
    return action(this.#fd);
  }

  /** Releases the descriptor; a write under way and all later ones reject with `errno`. */
  fail(errno: number): void {
    if (this.#closedWith !== null) return;
    this.#closedWith = errno;
    this.#watch.close();
    this.#libc.close(this.#fd);
    const pending = this.#pending;
    this.#pending = null;
    pending?.reject(new OsError(errno, 'write'));
  }

  #writeReady(): void {
    const pending = this.#pending;
    if (pending === null) return;
    let budget = MAX_TURN_BYTES;
    while (pending.bytes.length > 0) {
      const slice = pending.bytes.subarray(0, budget);
      const written = retryInterrupted(this.#libc, () => this.#libc.write(this.#fd, slice, slice.length));
      if (written < 0 && this.#libc.errno() !== EAGAIN) {
        this.fail(this.#libc.errno());
        return;
      }
      if (written > 0) {
        pending.bytes = pending.bytes.subarray(written);
        budget -= written;
      }
      if (pending.bytes.length > 0 && (written <= 0 || budget <= 0)) {
        this.#watch.start();
        return;
      }
    }
    this.#watch.stop();
    this.#pending = null;
    pending.resolve();
  }
}
