import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTextFile } from '../../src/environment/text-file.js';
import { makeFileTree } from '../support/file-tree.js';

describe('reading a text file', () => {
  it('gives its text, through links too', async () => {
    const root = await makeFileTree({ file: 'grüße\n' });
    await symlink('file', join(root, 'link'));
    expect(await readTextFile(join(root, 'file'), 100)).toBe('grüße\n');
    expect(await readTextFile(Buffer.from(join(root, 'link')), 100)).toBe('grüße\n');
  });

  it.each([
    [9, true],
    [10, true],
    [11, false],
  ])('of %i bytes at a limit of 10', async (bytes, fits) => {
    const root = await makeFileTree({ file: 'x'.repeat(bytes) });
    const read = readTextFile(join(root, 'file'), 10);
    if (fits) expect((await read).length).toBe(bytes);
    else
      await expect(read).rejects.toMatchObject({
        failure: 'too-large',
        message: 'exceeds the 10-byte limit',
      });
  });

  it('takes text of many reads', async () => {
    const text = 'line\n'.repeat(50_000);
    const root = await makeFileTree({ file: text });
    expect(await readTextFile(join(root, 'file'), 1_000_000)).toBe(text);
  });

  it('never waits for a FIFO, and refuses what is no file', async () => {
    const root = await makeFileTree({ 'directory/file': '' });
    execFileSync('mkfifo', [join(root, 'fifo')]);
    for (const name of ['fifo', 'directory']) {
      const path = join(root, name);
      await expect(readTextFile(path, 10)).rejects.toMatchObject({
        failure: 'not-a-file',
        message: `path \`${path}\` is not a file`,
      });
    }
  });

  it('says why there is nothing to read', async () => {
    const root = await makeFileTree({ file: Buffer.from([0x61, 0xff]) });
    await expect(readTextFile(join(root, 'missing'), 10)).rejects.toMatchObject({
      name: 'OsError',
      errno: 2,
    });
    await expect(readTextFile(join(root, 'file/below'), 10)).rejects.toMatchObject({ errno: 20 });
    await expect(readTextFile(join(root, 'file'), 10)).rejects.toMatchObject({ failure: 'not-utf8' });
  });
});
