import { MAX_FILE_BLOCK_BYTES, MAX_FILE_HANDLE_ID_BYTES, MAX_OPEN_FILE_HANDLES } from '@exec-server/protocol';
import type { ConnectionResource } from '../dialects/dialect.js';
import { FileError } from './file-error.js';

/** Bytes that a signed 64-bit offset can count. */
const MAX_FILE_BYTES = 2n ** 63n - 1n;

/** A file that is open somewhere. */
export interface HandleFile {
  /** What it was when it was opened; another file, or another content, is another one. */
  readonly identity: string;
  /** Reads `length` bytes, or fewer where the file ends. */
  read(offset: number, length: number): Promise<Buffer>;
  write(offset: number, data: Uint8Array): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** No file is open under an id. */
export class UnknownHandleError extends Error {
  override readonly name = 'UnknownHandleError';
  constructor(id: string) {
    super(`unknown file handle \`${id}\``);
  }
}

/** The files that one connection has open, under ids that its client chose. */
export class FileHandles implements ConnectionResource {
  /** Whose the files are, in the words of a refusal. */
  protected readonly owner: string = 'connection';
  readonly #files = new Map<string, Promise<HandleFile>>();
  #closed = false;

  has(id: string): boolean {
    return this.#files.has(id);
  }

  /** Takes the id, then opens. An id whose file cannot be opened is free again. Throws a {@link FileError}. */
  async open(id: string, openFile: () => Promise<HandleFile>): Promise<HandleFile> {
    if (Buffer.byteLength(id) > MAX_FILE_HANDLE_ID_BYTES)
      throw refused(`file handle ID must not exceed ${MAX_FILE_HANDLE_ID_BYTES} bytes`);
    this.refuseTaken(id);
    if (this.#files.size >= MAX_OPEN_FILE_HANDLES)
      throw new FileError(
        'over-limit',
        `at most ${MAX_OPEN_FILE_HANDLES} file handles may be open per ${this.owner}`,
      );
    const file = openFile();
    this.#files.set(id, file);
    // The connection may have ended while the request was on its way here.
    if (this.#closed) this.#closeUnheard(id, file);
    try {
      return await file;
    } catch (error) {
      this.#forget(id, file);
      throw error;
    }
  }

  /** Throws a {@link FileError} for an id under which a file is open. */
  refuseTaken(id: string): void {
    if (this.#files.has(id)) throw new FileError('id-taken', `file handle \`${id}\` already exists`);
  }

  /** A block, shorter than `length` only at the end of the file. A failed read closes the handle. */
  async read(id: string, offset: number, length: number): Promise<Buffer> {
    checkBlockLength('read', length);
    const opening = this.#files.get(id);
    let isOpen = false;
    try {
      return await whenOpen(id, opening, (file) => {
        isOpen = true;
        return file.read(offset, length);
      });
    } catch (error) {
      if (isOpen && opening !== undefined) await this.#close(id, opening);
      throw error;
    }
  }

  /** Writes after the writes before it on the same handle. A failed write leaves the handle open. */
  async write(id: string, offset: number, data: Uint8Array): Promise<void> {
    checkBlockLength('write', data.length);
    if (BigInt(offset) + BigInt(data.length) > MAX_FILE_BYTES)
      throw refused('file write range exceeds the signed 64-bit file offset limit');
    await whenOpen(id, this.#files.get(id), (file) => file.write(offset, data));
  }

  /** Frees the id at once and resolves when its file is closed. An unknown id is fine. */
  async release(id: string): Promise<void> {
    const opening = this.#files.get(id);
    if (opening !== undefined) await this.#close(id, opening);
  }

  close(): void {
    this.#closed = true;
    for (const [id, opening] of this.#files) this.#closeUnheard(id, opening);
  }

  /** Nobody is left to be told that a file system did not keep what was written. */
  #closeUnheard(id: string, opening: Promise<HandleFile>): void {
    this.#close(id, opening).catch(() => {});
  }

  async #close(id: string, opening: Promise<HandleFile>): Promise<void> {
    this.#forget(id, opening);
    await opening.then(
      (file) => file.close(),
      // Whoever opened it was told.
      () => {},
    );
  }

  /** The id may belong to another file by now. */
  #forget(id: string, opening: Promise<HandleFile>): void {
    if (this.#files.get(id) === opening) this.#files.delete(id);
  }
}

/** The files that a session has open, whatever becomes of its connections. */
export class KeptFileHandles extends FileHandles {
  protected override readonly owner: string = 'session';
}

/**
 * Operates on a file as soon as it is open. Operations and the close begin in the order of their calls, also when they
 * were sent before the file was open.
 */
function whenOpen<T>(
  id: string,
  opening: Promise<HandleFile> | undefined,
  operate: (file: HandleFile) => Promise<T>,
): Promise<T> {
  const fail = (): never => {
    throw new UnknownHandleError(id);
  };
  return opening === undefined ? fail() : opening.then(operate, fail);
}

function checkBlockLength(operation: 'read' | 'write', length: number): void {
  if (length < 1 || length > MAX_FILE_BLOCK_BYTES)
    throw refused(`file ${operation} block length must be between 1 and ${MAX_FILE_BLOCK_BYTES}`);
}

function refused(message: string): FileError {
  return new FileError('refused', message);
}
