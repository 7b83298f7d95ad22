import { type BigIntStats, close, constants, fstat, open, read, write } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import { promisify } from 'node:util';
import { nativePathText } from '@exec-server/protocol';
import { OsError } from '../os-error.js';
import { callSystem, FileError } from './file-error.js';
import type { HandleFile } from './handles.js';

const { EBADF, EFBIG, EINVAL } = osConstants.errno;

/** `replace` creates the file or empties the one that is there. */
export type OpenMode = 'read' | 'replace';

// A FIFO or a terminal must neither make the open wait nor become ours.
const COMMON_FLAGS = constants.O_NONBLOCK | constants.O_NOCTTY;
const OPEN_FLAGS: Readonly<Record<OpenMode, number>> = {
  read: COMMON_FLAGS | constants.O_RDONLY,
  replace: COMMON_FLAGS | constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
};

/** Permissions of a new file, before the umask. */
const NEW_FILE_MODE = 0o666;

/** Largest offset of a file, in bytes: the kernel's is a signed 64-bit number. */
const MAX_OFFSET = 2n ** 63n - 1n;

const openAsync = promisify(open);
const closeAsync = promisify(close);
const statAsync = promisify(fstat);
const writeAsync = promisify(write);

/**
 * An open regular file. It stays the file that was opened, whatever becomes of its path. Its descriptor is closed when
 * nothing uses it any more, so that its number cannot come to mean another file under a read in flight.
 */
export class OpenFile implements HandleFile {
  readonly #fd: number;
  #uses = 1;
  #lastWrite: Promise<void> = Promise.resolve();
  #isClosing = false;
  readonly #released: Promise<void>;
  #onUnused!: () => void;

  private constructor(
    fd: number,
    readonly identity: string,
  ) {
    this.#fd = fd;
    const unused = new Promise<void>((resolve) => {
      this.#onUnused = resolve;
    });
    this.#released = unused.then(() => closeAsync(fd));
  }

  /** Throws an `OsError`, and a {@link FileError} for what is no regular file. */
  static async open(path: Uint8Array, mode: OpenMode): Promise<OpenFile> {
    const fd = await callSystem(openAsync(Buffer.from(path), OPEN_FLAGS[mode], NEW_FILE_MODE));
    try {
      const stats = await callSystem(statAsync(fd, { bigint: true }));
      if (stats.isFile()) return new OpenFile(fd, identify(stats));
      throw new FileError('refused', `path \`${nativePathText(path)}\` is not a file`);
    } catch (error) {
      await closeAsync(fd);
      throw error;
    }
  }

  /** Reads `length` bytes, or fewer where the file ends. Throws an `OsError`. */
  read(offset: number, length: number): Promise<Buffer> {
    return this.#use(async () => {
      if (BigInt(offset) + BigInt(length) > MAX_OFFSET) throw new OsError(EINVAL, 'read');
      const block = Buffer.allocUnsafeSlow(length);
      let filled = 0;
      while (filled < length) {
        const position = BigInt(offset) + BigInt(filled);
        const bytesRead = await callSystem(readAt(this.#fd, block.subarray(filled), position));
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return block.subarray(0, filled);
    });
  }

  /** The kind of its file system, as Linux numbers them. Throws an `OsError`. */
  readFileSystemKind(): Promise<number> {
    return this.#use(async () => (await callSystem(statfs(`/proc/self/fd/${this.#fd}`))).type >>> 0);
  }

  /** Writes all of `data`, after the writes before it. Throws an `OsError`. */
  write(offset: number, data: Uint8Array): Promise<void> {
    return this.#use(() => {
      const written = this.#lastWrite.then(() => this.#writeAll(offset, data));
      this.#lastWrite = written.catch(() => {});
      return written;
    });
  }

  /** Closes the descriptor as soon as nothing uses it, and resolves then. */
  close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#release();
    }
    return this.#released;
  }

  async #writeAll(offset: number, data: Uint8Array): Promise<void> {
    // Node writes to wherever the last write ended when it is given a position beyond 2^53.
    if (!Number.isSafeInteger(offset + data.length)) throw new OsError(EFBIG, 'write');
    for (let done = 0; done < data.length; ) {
      const left = data.length - done;
      done += (await callSystem(writeAsync(this.#fd, data, done, left, offset + done))).bytesWritten;
    }
  }

  async #use<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#uses === 0) throw new OsError(EBADF, 'use');
    this.#uses++;
    try {
      return await operation();
    } finally {
      this.#release();
    }
  }

  #release(): void {
    if (--this.#uses === 0) this.#onUnused();
  }
}

function identify({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** The promisified call takes no position beyond 2^53; the plain one does. */
function readAt(fd: number, into: Buffer, position: bigint): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, bytesRead) => {
      if (error === null) resolve(bytesRead);
      else reject(error);
    });
  });
}
