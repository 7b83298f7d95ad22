import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { MAX_READ_FILE_BYTES, nativePathText } from '@exec-server/protocol';
import { spareBuffers } from '@exec-server/rpc/node';
import { callSystem, FileError } from './file-error.js';
import { type LinkPolicy, withoutLinks } from './no-follow.js';

/** Most bytes that are read at once: a file of a mebibyte in one go. */
const BLOCK_BYTES = 1536 * 1024;

/** Fewest bytes that are asked for; files of the kernel say that they have none. */
const SMALL_BLOCK_BYTES = 16 * 1024;

// A FIFO must not make the open wait, nor a terminal become ours.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A regular file that is open to be read from its start to its end. */
export class WholeFile {
  private constructor(
    private readonly handle: FileHandle,
    /** Bytes that it had when it was opened; files of the kernel say 0 and have more. */
    readonly size: number,
  ) {}

  /** Refuses anything but a regular file of at most 512 MiB. */
  static open(path: Buffer, { followSymlinks }: LinkPolicy): Promise<WholeFile> {
    if (followSymlinks) return WholeFile.#open(path, FLAGS, `path \`${nativePathText(path)}\` is not a file`);
    const flags = FLAGS | constants.O_NOFOLLOW;
    return withoutLinks(path, (entry) => WholeFile.#open(entry, flags, 'path is not a regular file'));
  }

  static async #open(path: Buffer, flags: number, otherwise: string): Promise<WholeFile> {
    const handle = await callSystem(open(path, flags));
    try {
      const stats = await callSystem(handle.stat());
      if (!stats.isFile()) throw new FileError('refused', otherwise);
      if (stats.size > MAX_READ_FILE_BYTES) throw tooLarge();
      return new WholeFile(handle, stats.size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * The content, block by block; a block is only valid until the next. Refuses a file that grows beyond the limit
   * meanwhile.
   */
  async *blocks(signal: AbortSignal): AsyncGenerator<Buffer, void> {
    // One byte more than there should be: a read that then stops short has found the end.
    const block = spareBuffers.take(Math.min(BLOCK_BYTES, Math.max(SMALL_BLOCK_BYTES, this.size + 1)));
    try {
      for (let total = 0; ; ) {
        signal.throwIfAborted();
        const { bytesRead } = await callSystem(this.handle.read(block, 0, block.length));
        if (bytesRead === 0) return;
        total += bytesRead;
        if (total > MAX_READ_FILE_BYTES) throw tooLarge();
        yield block.subarray(0, bytesRead);
        // Files of the kernel stop short as they like, but they do not have the size that they say.
        if (bytesRead < block.length && total === this.size) return;
      }
    } finally {
      spareBuffers.give(block);
    }
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

function tooLarge(): FileError {
  return new FileError('refused', `file is too large to read: limit is ${MAX_READ_FILE_BYTES} bytes`);
}
