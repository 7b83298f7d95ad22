import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeToPathUri } from '@exec-server/protocol';
import { skipFor } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { OpenFiles } from '../../../../src/dialects/exec/confined/open-files.js';
import { makeTempDirectory } from '../../../support/temp-directory.js';

it('numbers files, and knows a closed one no more', async () => {
  const path = join(await makeTempDirectory(), 'file');
  writeFileSync(path, 'hello');
  const files = new OpenFiles();
  const { file } = await files.open({ path: nativeToPathUri(path), mode: 'read' });
  const other = await files.open({ path: nativeToPathUri(path), mode: 'replace' });
  expect(other.file).not.toBe(file);
  await files.write({ file: other.file, offset: 1, chunk: 'YQ==' });
  expect(await files.read({ file, offset: 0, length: 9 })).toEqual({ chunk: 'AGE=' });
  await files.close({ file });
  await expect(files.read({ file, offset: 0, length: 1 })).rejects.toMatchObject({ code: -32004 });
  await files.close(other);
});

it('says in the words of the wire why a file cannot be opened', async () => {
  const open = new OpenFiles().open({ path: 'file:///nonexistent', mode: 'read' });
  await expect(open).rejects.toMatchObject({
    code: -32004,
    message: 'No such file or directory (os error 2)',
  });
});

it('opens nothing of /proc, where its own memory is', async (test) => {
  if (process.platform !== 'linux') skipFor(test, 'Linux');
  const files = new OpenFiles();
  for (const path of ['file:///proc/self/mem', 'file:///proc/version'])
    await expect(files.open({ path, mode: 'read' })).rejects.toMatchObject({
      code: -32600,
      message: expect.stringContaining('read it whole with fs/readFile'),
    });
});
