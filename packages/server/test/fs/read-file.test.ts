import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileError } from '../../src/fs/file-error.js';
import { WholeFile } from '../../src/fs/read-file.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const LIMIT = 512 * 1024 * 1024;
/** Read at once. */
const BLOCK_BYTES = 1536 * 1024;
const FOLLOWING = { followSymlinks: true };
const TOO_LARGE = new FileError('refused', 'file is too large to read: limit is 536870912 bytes');
const { signal } = new AbortController();

async function makeFile(bytes: number): Promise<string> {
  const path = join(await makeTempDirectory(), 'f');
  writeFileSync(path, '');
  truncateSync(path, bytes);
  return path;
}

async function countBytes(file: WholeFile, onBlock: () => void = () => {}): Promise<number> {
  let bytes = 0;
  try {
    for await (const block of file.blocks(signal)) {
      bytes += block.length;
      onBlock();
    }
  } finally {
    await file.close();
  }
  return bytes;
}

describe('the limit', () => {
  it.each([LIMIT - 1, LIMIT])('%i bytes are read', async (bytes) => {
    const path = await makeFile(bytes);
    expect(await countBytes(await WholeFile.open(Buffer.from(path), FOLLOWING))).toBe(bytes);
  });

  it('one byte more is refused', async () => {
    const path = await makeFile(LIMIT + 1);
    await expect(WholeFile.open(Buffer.from(path), FOLLOWING)).rejects.toEqual(TOO_LARGE);
  });

  it('holds for what a file becomes while it is read', async () => {
    const path = await makeFile(2 * 1024 * 1024);
    const file = await WholeFile.open(Buffer.from(path), FOLLOWING);
    await expect(countBytes(file, () => truncateSync(path, LIMIT + 1))).rejects.toEqual(TOO_LARGE);
  });
});

it('reads what is there, whatever the size was', async () => {
  const path = await makeFile(0);
  writeFileSync(path, Buffer.alloc(2 * 1024 * 1024));
  const growing = await WholeFile.open(Buffer.from(path), FOLLOWING);
  let grown = false;
  const grow = () => {
    if (!grown) appendFileSync(path, 'more');
    grown = true;
  };
  expect(await countBytes(growing, grow)).toBe(2 * 1024 * 1024 + 4);
  const shrinking = await WholeFile.open(Buffer.from(path), FOLLOWING);
  expect(await countBytes(shrinking, () => truncateSync(path, 0))).toBe(BLOCK_BYTES);
});

it('stops when nobody waits for it any more', async () => {
  const path = await makeFile(4 * 1024 * 1024);
  const controller = new AbortController();
  const file = await WholeFile.open(Buffer.from(path), FOLLOWING);
  const blocks = file.blocks(controller.signal);
  await blocks.next();
  controller.abort();
  await expect(blocks.next()).rejects.toHaveProperty('name', 'AbortError');
  await file.close();
});
