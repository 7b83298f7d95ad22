import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ENOENT, ENOTDIR } from '../../src/fs/file-error.js';
import { splitPath } from '../../src/fs/native-path.js';
import { PinnedDirectory, withDirectory } from '../../src/fs/pinned-directory.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const bytes = (text: string) => Buffer.from(text);

/** Descriptors of this process below a directory. */
function listDescriptors(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(directory) ? [target] : [];
    } catch {
      // The descriptor of this very listing.
      return [];
    }
  });
}

it('stays what it is when its path becomes something else', async () => {
  const directory = await makeTempDirectory();
  mkdirSync(join(directory, 'd'));
  writeFileSync(join(directory, 'd/f'), 'pinned');
  const pinned = await PinnedDirectory.open(bytes(join(directory, 'd')));
  renameSync(join(directory, 'd'), join(directory, 'moved'));
  symlinkSync('/', join(directory, 'd'));
  expect(readFileSync(pinned.entry(bytes('f')), 'utf8')).toBe('pinned');
  await pinned.close();
});

it('takes no link for a directory, and leaves nothing open', async () => {
  const directory = await makeTempDirectory();
  mkdirSync(join(directory, 'd'));
  writeFileSync(join(directory, 'f'), '');
  symlinkSync('d', join(directory, 'link'));
  const reach = (name: string) =>
    withDirectory(splitPath(bytes(join(directory, name))), async (pinned) => pinned.path.toString());
  expect(await reach('d')).toMatch(/^\/proc\/self\/fd\/\d+$/);
  await expect(reach('link')).rejects.toHaveProperty('errno', ENOTDIR);
  await expect(reach('link/x')).rejects.toHaveProperty('errno', ENOTDIR);
  await expect(reach('f')).rejects.toHaveProperty('errno', ENOTDIR);
  await expect(reach('missing/x')).rejects.toHaveProperty('errno', ENOENT);
  expect(listDescriptors(directory)).toEqual([]);
});
