import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { findDeniedPaths, MAX_DENIED_PATHS } from '../../../src/sandbox/policy/find-denied-paths.js';
import { resolvePolicy } from '../../../src/sandbox/policy/resolve-policy.js';
import { pattern, READ_ROOT, sandboxOf } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

async function find(directory: string, text: string, depth?: number): Promise<string[]> {
  const context = sandboxOf(
    [READ_ROOT, pattern(`${directory}/${text}`, 'deny')],
    depth === undefined ? {} : { depth },
  );
  const { files } = resolvePolicy(context, { temporaryDirectories: [] });
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
