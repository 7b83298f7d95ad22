import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { applyMode } from '../../src/fs/file-mode.js';
import { makeTempDirectory } from '../support/temp-directory.js';

it.each([0o600, 0o1755, 0o4755, 0o2750])('gives a file of its own mode %o', async (mode) => {
  const path = join(await makeTempDirectory(), 'file');
  const file = await open(path, 'w');
  try {
    await applyMode(file, mode);
    expect((await file.stat()).mode & 0o7777).toBe(mode);
  } finally {
    await file.close();
  }
});
