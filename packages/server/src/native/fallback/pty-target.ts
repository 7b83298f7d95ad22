import { writeSync } from 'node:fs';
import { OsError } from '../../os-error.js';
import { EAGAIN, EIO } from '../constants.js';
import type { InputTarget } from '../launch.js';
import { toOsError } from '../node-error.js';
import { DEFAULT_EOF_CHARACTER } from '../pty.js';
import { BackOff } from './back-off.js';

interface PendingWrite {
  bytes: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (error: OsError) => void;
}

/** Writes to a pty master that belongs to a {@link PtySource}. Through its stream a write would block the loop. */
export class PtyTarget implements InputTarget {
  readonly #fd: number;
  readonly #retry = new BackOff(() => this.#writeReady());
  #pending: PendingWrite | null = null;
  #over = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#over) return Promise.reject(new OsError(EIO, 'write'));
    if (this.#pending !== null) return Promise.reject(new Error('a write is under way'));
    return new Promise((resolve, reject) => {
      this.#pending = { bytes, resolve, reject };
      this.#writeReady();
    });
  }

  /** The one that every terminal begins with: the portable binding cannot ask what the program made of it. */
  endMark(): Uint8Array {
    return Uint8Array.of(DEFAULT_EOF_CHARACTER);
  }

  close(): void {}

  /** The descriptor is gone. A write under way and all later ones reject. */
  end(): void {
    this.#over = true;
    this.#settle((pending) => pending.reject(new OsError(EIO, 'write')));
  }

  #writeReady(): void {
    const pending = this.#pending;
    if (pending === null) return;
    try {
      while (pending.bytes.length > 0) {
        pending.bytes = pending.bytes.subarray(writeSync(this.#fd, pending.bytes));
        this.#retry.reset();
      }
      this.#settle(({ resolve }) => resolve());
    } catch (error) {
      const failure = toOsError(error, 'write');
      if (failure.errno === EAGAIN) this.#retry.later();
      else this.#settle(({ reject }) => reject(failure));
    }
  }

  #settle(how: (pending: PendingWrite) => void): void {
    this.#retry.cancel();
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null) how(pending);
  }
}
