import type { Writable } from 'node:stream';
import { OsError } from '../../os-error.js';
import { EPIPE } from '../constants.js';
import type { InputTarget } from '../launch.js';
import { toOsError } from '../node-error.js';

/** Writes to a stream of Node. */
export class StreamTarget implements InputTarget {
  readonly #writable: Writable;
  #failure: OsError | null = null;
  #rejectPending: ((error: OsError) => void) | null = null;

  constructor(writable: Writable) {
    this.#writable = writable;
    writable.on('error', (error) => this.#fail(toOsError(error, 'write', EPIPE)));
    writable.on('close', () => this.#fail(new OsError(EPIPE, 'write')));
  }

  /** True while bytes wait for the reader. */
  get busy(): boolean {
    return this.#writable.writableLength > 0;
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#rejectPending = reject;
      this.#writable.write(bytes, (error) => {
        this.#rejectPending = null;
        if (error == null) resolve();
        else reject(toOsError(error, 'write', EPIPE));
      });
    });
  }

  endMark(): undefined {
    return undefined;
  }

  close(): void {
    this.#fail(new OsError(EPIPE, 'write'));
    this.#writable.destroy();
  }

  #fail(error: OsError): void {
    this.#failure ??= error;
    this.#rejectPending?.(this.#failure);
    this.#rejectPending = null;
  }
}
