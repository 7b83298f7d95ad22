import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scanRoot } from '../../src/capabilities/scan-root.js';
import { makeFileTree } from '../support/file-tree.js';

const LIMITS = { depth: 6, directories: 100, entries: 100 };

async function scan(root: string, limits: Partial<typeof LIMITS> = {}) {
  const { files, errors, truncated } = await scanRoot(root, { ...LIMITS, ...limits });
  return { files: files.map((path) => path.slice(root.length + 1)), errors, truncated };
}

describe('a scan', () => {
  it('goes level by level, in order of the names’ bytes, into hidden directories too', async () => {
    const root = await makeFileTree({ 'b/x': '', 'a/y': '', B: '', '.hidden/z': '', 'a/c/w': '' });
    expect(await scan(root)).toEqual({
      files: ['B', '.hidden/z', 'a/y', 'b/x', 'a/c/w'],
      errors: [],
      truncated: false,
    });
  });

  it('follows links to directories once, and none to files', async () => {
    const outside = await makeFileTree({ 'far/away': '' });
    const root = await makeFileTree({ 'd/f': '' });
    await symlink(join(outside, 'far'), join(root, 'link'));
    await symlink('.', join(root, 'self'));
    await symlink('../d', join(root, 'd/loop'));
    await symlink('d/f', join(root, 'file-link'));
    await symlink('nowhere', join(root, 'broken'));
    expect((await scan(root)).files).toEqual(['d/f', 'link/away']);
  });

  it('skips what is neither a file nor a directory', async () => {
    const root = await makeFileTree({ f: '' });
    execFileSync('mkfifo', [join(root, 'fifo')]);
    expect((await scan(root)).files).toEqual(['f']);
  });

  it('keeps names that are no text', async () => {
    const root = await makeFileTree({});
    await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x61, 0xff])]), '');
    expect((await scan(root)).files).toEqual(['a\xff']);
  });

  it.each([
    [1, ['f', '1/f'], false],
    [2, ['f', '1/f', '1/2/f'], false],
  ])('%i levels deep', async (depth, files, truncated) => {
    const root = await makeFileTree({ f: '', '1/f': '', '1/2/f': '', '1/2/3/f': '' });
    expect(await scan(root, { depth })).toMatchObject({ files, truncated });
  });

  it.each([
    [2, ['a/f'], true],
    [3, ['a/f', 'b/f'], false],
    [4, ['a/f', 'b/f'], false],
  ])('at most %i directories, the root included', async (directories, files, truncated) => {
    const root = await makeFileTree({ 'a/f': '', 'b/f': '' });
    expect(await scan(root, { directories })).toMatchObject({ files, truncated });
  });

  it.each([
    [2, 2, true],
    [3, 3, false],
    [4, 3, false],
  ])('at most %i names', async (entries, found, truncated) => {
    const root = await makeFileTree({ a: '', b: '', c: '' });
    const outcome = await scan(root, { entries });
    expect([outcome.files.length, outcome.truncated]).toEqual([found, truncated]);
  });

  it('fails when its root cannot be listed', async () => {
    const root = await makeFileTree({});
    await expect(scanRoot(join(root, 'missing'), LIMITS)).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(join(root, 'd'));
    await writeFile(join(root, 'f'), '');
    await expect(scanRoot(join(root, 'f'), LIMITS)).rejects.toMatchObject({ name: 'OsError', errno: 20 });
  });
});
