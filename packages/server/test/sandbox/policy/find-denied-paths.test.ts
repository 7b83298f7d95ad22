import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import {
  findDeniedPaths,
  MAX_DENIED_PATHS,
  MAX_SCANNED_ENTRIES,
} from '../../../src/sandbox/policy/find-denied-paths.js';
import { pattern, READ_ROOT, resolveNow, sandboxOf } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

async function find(directory: string, texts: string | readonly string[], depth?: number): Promise<string[]> {
  const context = sandboxOf(
    [READ_ROOT, ...[texts].flat().map((text) => pattern(`${directory}/${text}`, 'deny'))],
    depth === undefined ? {} : { depth },
  );
  const { files } = resolveNow(context, { temporaryDirectories: [] });
  if (files === 'unrestricted') throw new Error('the policy does not restrict files');
  const found = await findDeniedPaths(files);
  return found.map((path) => relative(directory, path.toString())).sort();
}

it('finds what exists, at most so deep, and nothing below what it found', async () => {
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'a/b'), { recursive: true });
  await mkdir(join(directory, 'x.env/inner.env'), { recursive: true });
  for (const name of ['top.env', 'a/one.env', 'a/b/two.env']) await writeFile(join(directory, name), '');
  await symlink('/', join(directory, 'everything'));

  expect(await find(directory, '**/*.env')).toEqual(['a/b/two.env', 'a/one.env', 'top.env', 'x.env']);
  expect(await find(directory, '**/*.env', 3)).toEqual(['a/b/two.env', 'a/one.env', 'top.env', 'x.env']);
  expect(await find(directory, '**/*.env', 2)).toEqual(['a/one.env', 'top.env', 'x.env']);
  expect(await find(directory, '**/*.env', 1)).toEqual(['top.env', 'x.env']);
  expect(await find(directory, 'missing/*')).toEqual([]);
});

it('refuses to hide more than it can', async () => {
  const directory = await makeTempDirectory();
  const names = Array.from({ length: MAX_DENIED_PATHS + 1 }, (_, index) => join(directory, `${index}`));
  const [last = '', ...rest] = names;
  for (const name of rest) await writeFile(name, '');
  expect(await find(directory, '*')).toHaveLength(MAX_DENIED_PATHS);
  await writeFile(last, '');
  await expect(find(directory, '*')).rejects.toMatchObject({ failure: 'unenforceable' });
});

it('refuses to look at more than it can', async () => {
  const directory = await makeTempDirectory();
  const [many, few] = [1_000, MAX_SCANNED_ENTRIES / 1_000];
  for (const name of ['large', 'small']) await mkdir(join(directory, name));
  for (let index = 0; index < many; index++) await writeFile(join(directory, `large/${index}`), '');
  const add = (index: number) => writeFile(join(directory, `small/${index}`), '');
  // Each pattern looks at a directory of its own accord; the last one makes the difference.
  const patterns = Array.from({ length: few - 1 }, (_, index) => `large/none-${index}*`);
  const look = () => find(directory, [...patterns, 'small/none*']);
  for (let index = 1; index < many; index++) await add(index);
  expect(await look()).toEqual([]);
  await add(many);
  expect(await look()).toEqual([]);
  await add(many + 1);
  await expect(look()).rejects.toThrow(`more than ${MAX_SCANNED_ENTRIES} entries`);
});
