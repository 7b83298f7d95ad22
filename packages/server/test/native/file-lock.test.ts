import { closeSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tryLock } from '../../src/native/file-lock.js';
import { hasMemoryFiles } from '../../src/native/memory-file.js';
import { makeTempDirectory } from '../support/temp-directory.js';

it.runIf(hasMemoryFiles())('shares, and gives the whole only to the last', async () => {
  const directory = await makeTempDirectory();
  const one = openSync(directory, 'r');
  const two = openSync(directory, 'r');
  expect([tryLock(one, 'shared'), tryLock(two, 'shared')]).toEqual([true, true]);
  expect(tryLock(one, 'exclusive')).toBe(false);
  closeSync(two);
  expect(tryLock(one, 'exclusive')).toBe(true);
  const three = openSync(directory, 'r');
  expect(tryLock(three, 'shared')).toBe(false);
  closeSync(one);
  expect(tryLock(three, 'shared')).toBe(true);
  closeSync(three);
  expect(() => tryLock(-1, 'shared')).toThrow(expect.objectContaining({ name: 'OsError' }));
});
