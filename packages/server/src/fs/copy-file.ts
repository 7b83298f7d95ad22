import { type BigIntStats, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { callSystem, FileError } from './file-error.js';
import { applyMode, SET_ID_BITS } from './file-mode.js';
import { withOpenFile, writeAll } from './write-file.js';

/** Most bytes that are copied at once: between blocks others have their turn in the thread pool. */
const BLOCK_BYTES = 1024 * 1024;

/** Fewest bytes that are asked for; files of the kernel say that they have none. */
const SMALL_BLOCK_BYTES = 16 * 1024;

const PERMISSION_BITS = 0o7777;

// Neither a FIFO that took the file's place nor one at the destination may make the open wait.
const COMMON_FLAGS = constants.O_NONBLOCK | constants.O_NOCTTY;
const SOURCE_FLAGS = COMMON_FLAGS | constants.O_RDONLY | constants.O_NOFOLLOW;
const DESTINATION_FLAGS = COMMON_FLAGS | constants.O_WRONLY | constants.O_CREAT;

/**
 * Copies content and mode of a regular file into one that is created or overwritten, through links at the destination.
 * A file that is copied onto itself, by whatever name, stays as it is.
 */
export function copyFile(source: Buffer, destination: Buffer): Promise<void> {
  return withOpenFile(source, SOURCE_FLAGS, 0, async (from) => {
    const stats = await callSystem(from.stat({ bigint: true }));
    if (!stats.isFile())
      throw new FileError('refused', 'fs/copy only supports regular files, directories, and symlinks');
    const mode = Number(stats.mode) & PERMISSION_BITS;
    // Not truncated by the open: it may be the source itself.
    await withOpenFile(destination, DESTINATION_FLAGS, mode & ~SET_ID_BITS, async (to) => {
      const overwritten = await callSystem(to.stat({ bigint: true }));
      if (isSameFile(stats, overwritten)) return;
      if (overwritten.isFile()) await callSystem(to.truncate());
      await copyContent(from, to, Number(stats.size));
      // Writing takes away the bits that run a program as somebody else, so the mode comes last.
      if (overwritten.isFile()) await applyMode(to, mode);
    });
  });
}

function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

async function copyContent(from: FileHandle, to: FileHandle, size: number): Promise<void> {
  const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(SMALL_BLOCK_BYTES, size + 1)));
  for (;;) {
    const { bytesRead } = await callSystem(from.read(block, 0, block.length));
    if (bytesRead === 0) return;
    await writeAll(to, block.subarray(0, bytesRead));
  }
}
